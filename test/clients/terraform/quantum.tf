terraform {
  required_providers {
    vault = { source = "hashicorp/vault" }
  }
}

resource "vault_mount" "quantum" {
  path = "quantum"
  type = "transit"
}

resource "vault_transit_secret_backend_key" "vaults" {
  for_each = {
    "44"                = "ml-dsa"
    "65"                = "ml-dsa"
    "87"                = "ml-dsa"
    "slh-dsa-sha2-128f" = "slh-dsa"
  }
  backend          = vault_mount.quantum.path
  name             = "vaults-${each.key}"
  type             = each.value
  parameter_set    = each.key
  deletion_allowed = true
}

resource "vault_transit_secret_backend_key" "others" {
  for_each         = toset(["mldsa-44", "mldsa-87", "ml-dsa-65", "slh-dsa-sha2-128f"])
  backend          = vault_mount.quantum.path
  name             = each.key
  type             = each.key
  deletion_allowed = true
}
