# tests of src/attn
