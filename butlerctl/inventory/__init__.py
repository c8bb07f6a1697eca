"""The inventory: what ought to be. `inventory.yaml` becomes a typed model; secrets stay references."""
