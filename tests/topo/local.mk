# tests of src/topo
