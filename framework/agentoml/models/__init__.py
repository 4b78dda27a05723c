"""Where text comes from: one contract, one module an adapter."""
