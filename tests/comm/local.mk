# tests of src/comm
