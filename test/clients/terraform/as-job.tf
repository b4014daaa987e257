terraform {
  required_providers {
    vault = { source = "hashicorp/vault" }
  }
}

variable "job_token" { sensitive = true }

provider "vault" {
  auth_login_jwt {
    mount = "jobs"
    role  = "admin"
    jwt   = var.job_token
  }
}

resource "vault_policy" "made" {
  name   = "made-by-a-job"
  policy = "path \"transit/*\" { capabilities = [\"list\"] }"
}
