package main

import "context"

func logins(s server) {
	root := s.Token()
	defer s.SetToken(root)
	s.write("sys/auth/people", object{"type": "userpass"})
	s.write("sys/auth/userpass", object{"type": "userpass"})
	s.write("sys/auth/approle", object{"type": "approle"})
	s.write("auth/userpass/users/ada", object{"password": "secret", "token_policies": "app", "token_ttl": "1h"})
	s.write("auth/approle/role/deploy", object{"token_policies": "app"})
	role := s.read("auth/approle/role/deploy/role-id")["role_id"].(string)
	plain := s.write("auth/approle/role/deploy/secret-id", nil)["secret_id"].(string)

	s.SetWrappingLookupFunc(func(string, string) string { return "60s" })
	wrapped, err := s.Logical().Write("auth/approle/role/deploy/secret-id", nil)
	must(err)
	s.SetWrappingLookupFunc(nil)

	s.logIn("password", usable(byPassword("ada", "secret")))
	expect("display_name", s.read("auth/token/lookup-self")["display_name"], "userpass-ada")
	s.logIn("secret ID", usable(bySecretID(role, plain, false)))
	s.logIn("wrapped secret ID", usable(bySecretID(role, wrapped.WrapInfo.Token, true)))
	expect("display_name", s.read("auth/token/lookup-self")["display_name"], "approle")

	wrong := usable(byPassword("ada", "wrong"))
	if _, err := s.Auth().Login(context.Background(), wrong); err == nil {
		expect("a wrong password", "let in", "refused")
	}
	s.SetToken(root)
	for _, path := range []string{"people", "userpass", "approle"} {
		must(s.Sys().DisableAuth(path))
	}
}

func (s server) logIn(what string, by method) {
	s.ClearToken()
	secret, err := s.Auth().Login(context.Background(), by)
	must(err)
	expect("policies of "+what, secret.Auth.Policies, []string{"app", "default"})
	s.SetToken(secret.Auth.ClientToken)
}

func usable(by method, err error) method {
	must(err)
	return by
}

func wrapping(s server) {
	s.SetWrappingLookupFunc(func(string, string) string { return "60s" })
	wrapped, err := s.Logical().Write("sys/wrapping/wrap", object{"password": "secret"})
	must(err)
	s.SetWrappingLookupFunc(nil)
	expect("creation_path", wrapped.WrapInfo.CreationPath, "sys/wrapping/wrap")
	opened, err := s.Logical().Unwrap(wrapped.WrapInfo.Token)
	must(err)
	expect("what was wrapped", opened.Data["password"], "secret")
	if _, err := s.Logical().Unwrap(wrapped.WrapInfo.Token); err == nil {
		expect("a second time", "unwrapped", "refused")
	}
}
