# tests of src/api
