//go:build !openbao

package main

import (
	"github.com/hashicorp/vault/api"
	"github.com/hashicorp/vault/api/auth/approle"
	"github.com/hashicorp/vault/api/auth/kubernetes"
	"github.com/hashicorp/vault/api/auth/userpass"
)

type (
	client       = api.Client
	mount        = api.MountInput
	mountConfig  = api.MountConfigInput
	secret       = api.Secret
	tokenRequest = api.TokenCreateRequest
	method       = api.AuthMethod
)

func connect() (*client, error) {
	client, err := api.NewClient(api.DefaultConfig()) // VAULT_ADDR, VAULT_TOKEN
	return client, err
}

func byPassword(user, password string) (method, error) {
	return userpass.NewUserpassAuth(user, &userpass.Password{FromString: password})
}

func bySecretID(role, secret string, isWrapped bool) (method, error) {
	if isWrapped {
		return approle.NewAppRoleAuth(role, &approle.SecretID{FromString: secret}, approle.WithWrappingToken())
	}
	return approle.NewAppRoleAuth(role, &approle.SecretID{FromString: secret})
}

func loginBy(method, path, token string) api.AuthMethod {
	if method != "kubernetes" {
		return jwtLogin{path, token}
	}
	login, err := kubernetes.NewKubernetesAuth("app", kubernetes.WithMountPath(path), kubernetes.WithServiceAccountToken(token))
	must(err)
	return login
}
