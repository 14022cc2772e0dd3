# tests of src/kernel
