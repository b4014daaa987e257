terraform {
  required_providers {
    tfe = {
      source = "hashicorp/tfe"
    }
  }
}

variable "hostname" {}

variable "env" {
  default = "prod"
}

variable "project" {
  default = "shop"
}

variable "suffix" {
  default = ""
}

provider "tfe" {
  hostname = var.hostname
}

resource "tfe_organization" "acme" {
  name  = "acme"
  email = "ops@example.com"
}

resource "tfe_project" "shop" {
  organization = tfe_organization.acme.name
  name         = "Shop${var.suffix}"
  tags = {
    owner = "shop"
  }
}

resource "tfe_project" "other" {
  organization = tfe_organization.acme.name
  name         = "Other"
}

resource "tfe_workspace" "billing" {
  organization = tfe_organization.acme.name
  name         = "billing-prod"
  project_id   = var.project == "shop" ? tfe_project.shop.id : tfe_project.other.id
  tag_names    = ["app:billing", "env:${var.env}"]
}

resource "tfe_workspace" "web" {
  organization = tfe_organization.acme.name
  name         = "web-prod"
  tags = {
    env  = var.env
    team = "core"
  }
}

resource "tfe_workspace" "test" {
  organization  = tfe_organization.acme.name
  name          = "billing-test${var.suffix}"
  force_delete  = true
  tag_names     = ["env:test"]
  description   = "What is tried${var.suffix}"
}

data "tfe_workspace_ids" "by_name" {
  organization = tfe_organization.acme.name
  tag_names    = ["app:billing"]
  depends_on   = [tfe_workspace.billing, tfe_workspace.test]
}

data "tfe_workspace_ids" "by_key" {
  organization = tfe_organization.acme.name
  tag_filters {
    include = {
      env = var.env
    }
  }
  depends_on = [tfe_workspace.web, tfe_workspace.billing]
}

data "tfe_workspace_ids" "by_project_key" {
  organization = tfe_organization.acme.name
  tag_filters {
    include = {
      owner = "shop"
    }
  }
  depends_on = [tfe_workspace.web, tfe_workspace.billing]
}

data "tfe_organization_tags" "pool" {
  organization = tfe_organization.acme.name
  depends_on   = [tfe_workspace.billing, tfe_workspace.test]
}

output "by_name" {
  value = keys(data.tfe_workspace_ids.by_name.ids)
}

output "by_key" {
  value = keys(data.tfe_workspace_ids.by_key.ids)
}

output "by_project_key" {
  value = keys(data.tfe_workspace_ids.by_project_key.ids)
}

output "pool" {
  value = sort([for tag in data.tfe_organization_tags.pool.tags : tag.name])
}
