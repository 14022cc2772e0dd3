# tests of src/sim
