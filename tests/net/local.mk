# tests of src/net
