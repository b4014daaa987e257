terraform {
  required_providers {
    vault = { source = "hashicorp/vault" }
  }
}

variable "path" { default = "payments" }
variable "size" { default = 500 }

resource "vault_mount" "payments" {
  path                        = var.path
  type                        = "transit"
  description                 = "keys of the shop, at ${var.path}"
  default_lease_ttl_seconds   = 3600
  max_lease_ttl_seconds       = 86400
  audit_non_hmac_request_keys = ["type"]
}

resource "vault_mount" "plain" {
  path = "plain"
  type = "transit"
}

resource "vault_transit_secret_backend_key" "every" {
  for_each = toset([
    "aes128-gcm96", "aes256-gcm96", "chacha20-poly1305",
    "ed25519", "ecdsa-p256", "ecdsa-p384", "ecdsa-p521", "rsa-2048", "rsa-3072", "rsa-4096",
  ])
  backend          = vault_mount.payments.path
  name             = each.key
  type             = each.key
  deletion_allowed = true
}

resource "vault_transit_secret_backend_key" "hmac" {
  backend          = vault_mount.payments.path
  name             = "hmac"
  type             = "hmac"
  key_size         = 64
  deletion_allowed = true
}

resource "vault_transit_secret_backend_key" "tenants" {
  backend                = vault_mount.payments.path
  name                   = "tenants"
  derived                = true
  convergent_encryption  = true
  exportable             = true
  allow_plaintext_backup = true
  auto_rotate_period     = 7200
  deletion_allowed       = true
}

resource "vault_transit_secret_cache_config" "cache" {
  backend = vault_mount.payments.path
  size    = var.size
}

resource "vault_policy" "app" {
  name   = "app"
  policy = <<-RULES
    path "${var.path}/encrypt/aes256-gcm96" { capabilities = ["update"] }
  RULES
}

data "vault_transit_encrypt" "sealed" {
  backend   = vault_mount.payments.path
  key       = vault_transit_secret_backend_key.every["aes256-gcm96"].name
  plaintext = "a secret"
}

data "vault_transit_decrypt" "opened" {
  backend    = vault_mount.payments.path
  key        = vault_transit_secret_backend_key.every["aes256-gcm96"].name
  ciphertext = data.vault_transit_encrypt.sealed.ciphertext
}

output "opened" {
  value     = data.vault_transit_decrypt.opened.plaintext
  sensitive = true
}
