//go:build openbao

package main

import (
	"context"

	"github.com/openbao/openbao/api/v2"
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
	client, err := api.NewClient(api.DefaultConfig()) // BAO_ADDR, BAO_TOKEN
	return client, err
}

// Their own packages for this are not published as modules: the same requests, as an agent sends them.
type request struct {
	path      string
	data      object
	unwrapped string // The member that stands for a wrapped answer.
}

func (r request) Login(ctx context.Context, c *client) (*secret, error) {
	if r.unwrapped != "" {
		opened, err := c.Logical().UnwrapWithContext(ctx, r.data[r.unwrapped].(string))
		if err != nil {
			return nil, err
		}
		r.data[r.unwrapped] = opened.Data[r.unwrapped]
	}
	return c.Logical().WriteWithContext(ctx, r.path, r.data)
}

func byPassword(user, password string) (method, error) {
	return request{"auth/userpass/login/" + user, object{"password": password}, ""}, nil
}

func bySecretID(role, secret string, isWrapped bool) (method, error) {
	data := object{"role_id": role, "secret_id": secret}
	if isWrapped {
		return request{"auth/approle/login", data, "secret_id"}, nil
	}
	return request{"auth/approle/login", data, ""}, nil
}

func loginBy(_, path, token string) api.AuthMethod {
	return jwtLogin{path, token}
}
