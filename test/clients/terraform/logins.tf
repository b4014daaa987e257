terraform {
  required_providers {
    vault = { source = "hashicorp/vault" }
  }
}

variable "public_key" {}

resource "vault_policy" "release" {
  name   = "release"
  policy = <<-RULES
    path "transit/sign/releases" { capabilities = ["update"] }
  RULES
}

resource "vault_auth_backend" "approle" {
  type = "approle"
  path = "programs"
  tune {
    default_lease_ttl = "1h"
    max_lease_ttl     = "8h"
  }
}

resource "vault_approle_auth_backend_role" "deploy" {
  backend            = vault_auth_backend.approle.path
  role_name          = "deploy"
  token_policies     = [vault_policy.release.name, "default"]
  token_ttl          = 900
  token_max_ttl      = 3600
  token_bound_cidrs  = ["127.0.0.0/8", "10.0.0.0/8"]
}

resource "vault_approle_auth_backend_role_secret_id" "deploy" {
  backend   = vault_auth_backend.approle.path
  role_name = vault_approle_auth_backend_role.deploy.role_name
  metadata  = jsonencode({ team = "a" })
}

resource "vault_approle_auth_backend_login" "deploy" {
  backend   = vault_auth_backend.approle.path
  role_id   = vault_approle_auth_backend_role.deploy.role_id
  secret_id = vault_approle_auth_backend_role_secret_id.deploy.secret_id
}

data "vault_approle_auth_backend_role_id" "deploy" {
  backend   = vault_auth_backend.approle.path
  role_name = vault_approle_auth_backend_role.deploy.role_name
}

resource "vault_jwt_auth_backend" "gitlab" {
  path                   = "gitlab"
  type                   = "jwt"
  description            = "jobs"
  jwt_validation_pubkeys = [var.public_key]
  bound_issuer           = "https://gitlab.example.com"
}

resource "vault_jwt_auth_backend_role" "release" {
  backend           = vault_jwt_auth_backend.gitlab.path
  role_name         = "release"
  role_type         = "jwt"
  user_claim        = "project_path"
  bound_audiences   = ["https://vault.example.com"]
  bound_claims_type = "glob"
  bound_claims = {
    project_path  = "my-group/*"
    ref_protected = "true"
  }
  claim_mappings = { user_login = "who" }
  token_policies = [vault_policy.release.name]
  token_ttl      = 600
}

resource "vault_token_auth_backend_role" "ci" {
  role_name              = "ci"
  allowed_policies       = [vault_policy.release.name]
  disallowed_policies    = ["root"]
  orphan                 = true
  renewable              = true
  token_explicit_max_ttl = 3600
  path_suffix            = "jobs"
}

resource "vault_auth_backend" "people" {
  type = "userpass"
  path = "people"
}

output "accessor" { value = vault_approle_auth_backend_login.deploy.accessor }
