# tests of src/tools
