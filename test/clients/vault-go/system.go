package main

import (
	"log"
	"slices"
	"strings"
)

func mounts(s server) {
	const seconds = 7200
	must(s.Sys().Mount("payments", &mount{
		Type: "transit", Description: "of the shop", Config: mountConfig{DefaultLeaseTTL: "2h", MaxLeaseTTL: "3h"},
	}))
	listed, err := s.Sys().ListMounts()
	must(err)
	expect("description", listed["payments/"].Description, "of the shop")
	expect("options", listed["payments/"].Options, nil)
	expect("default_lease_ttl", listed["payments/"].Config.DefaultLeaseTTL, seconds)
	expect("max_lease_ttl", listed["payments/"].Config.MaxLeaseTTL, 3*3600)

	described := "of another shop"
	must(s.Sys().TuneMount("payments", mountConfig{
		Description: &described, ListingVisibility: "unauth", MaxLeaseTTL: "4h",
		AuditNonHMACRequestKeys: []string{"type"}, AuditNonHMACResponseKeys: []string{"name"},
	}))
	tuned, err := s.Sys().MountConfig("payments")
	must(err)
	expect("listing_visibility", tuned.ListingVisibility, "unauth")
	expect("max_lease_ttl", tuned.MaxLeaseTTL, 4*3600)
	expect("audit_non_hmac_request_keys", tuned.AuditNonHMACRequestKeys, []string{"type"})
	expect("audit_non_hmac_response_keys", tuned.AuditNonHMACResponseKeys, []string{"name"})
	expect("description", s.read("sys/mounts/payments")["description"], described)

	ciphertext := s.write("payments/encrypt/orders", object{"plaintext": inBase64("x")})["ciphertext"]
	must(s.Sys().Remount("payments", "moved/payments"))
	decrypted := s.write("moved/payments/decrypt/orders", object{"ciphertext": ciphertext})
	expect("plaintext after the move", decrypted["plaintext"], inBase64("x"))
	s.refused("payments/decrypt/orders", object{"ciphertext": ciphertext}, "404")
	must(s.Sys().Unmount("moved/payments"))
	listed, err = s.Sys().ListMounts()
	must(err)
	expect("a mount that is gone", listed["moved/payments/"], nil)
}

const rules = `path "transit/encrypt/orders" { capabilities = ["update"] }`

func policies(s server) {
	must(s.Sys().PutPolicy("sealer", rules))
	read, err := s.Sys().GetPolicy("sealer")
	must(err)
	expect("rules", read, rules)
	listed, err := s.Sys().ListPolicies()
	must(err)
	if !slices.Contains(listed, "sealer") || !slices.Contains(listed, "default") {
		log.Fatalf("the policies are %v", listed)
	}
	must(s.Sys().DeletePolicy("sealer"))
	read, err = s.Sys().GetPolicy("sealer")
	must(err)
	expect("rules of a policy that is gone", read, "")
}

// The same server for another token.
func (s server) as(token string) server {
	other, err := s.Clone()
	must(err)
	other.SetToken(token)
	return server{other}
}

func tokens(s server) {
	s.key("orders", "aes256-gcm96", nil)
	must(s.Sys().PutPolicy("caller", rules))
	issuer := s.Auth().Token()
	renewable := true
	made, err := issuer.Create(&tokenRequest{
		Policies: []string{"caller"}, TTL: "1h", Renewable: &renewable, DisplayName: "shop", Metadata: map[string]string{"team": "a"},
	})
	must(err)
	expect("lease_duration", made.Auth.LeaseDuration, 3600)
	caller := s.as(made.Auth.ClientToken)
	caller.write("transit/encrypt/orders", object{"plaintext": ""})
	caller.refused("transit/decrypt/orders", object{"ciphertext": ""}, "403")
	self, err := caller.Auth().Token().LookupSelf()
	must(err)
	expect("policies", self.Data["policies"], []string{"caller", "default"})
	expect("display_name", self.Data["display_name"], "token-shop")
	expect("meta", self.Data["meta"], map[string]string{"team": "a"})
	for _, lookup := range []func() (*secret, error){
		func() (*secret, error) { return issuer.Lookup(made.Auth.ClientToken) },
		func() (*secret, error) { return issuer.LookupAccessor(made.Auth.Accessor) },
	} {
		found, err := lookup()
		must(err)
		expect("accessor", found.Data["accessor"], made.Auth.Accessor)
	}
	renewed, err := caller.Auth().Token().RenewSelf(7200)
	must(err)
	expect("renewed", renewed.Auth.Renewable, true)
	_, err = issuer.Renew(made.Auth.ClientToken, 1800)
	must(err)
	_, err = issuer.RenewAccessor(made.Auth.Accessor, 1800)
	must(err)
	if accessors := s.list("auth/token/accessors"); !slices.Contains(accessors, made.Auth.Accessor) {
		log.Fatal("its accessor is not listed")
	}
	must(caller.Auth().Token().RevokeSelf(""))
	caller.refused("transit/encrypt/orders", object{"plaintext": ""}, "403")

	for _, revoke := range []func(token, accessor string) error{
		func(token, _ string) error { return issuer.RevokeOrphan(token) },
		func(token, _ string) error { return issuer.RevokeTree(token) },
		func(_, accessor string) error { return issuer.RevokeAccessor(accessor) },
	} {
		orphan, err := issuer.CreateOrphan(&tokenRequest{Policies: []string{"caller"}, Period: "1h"})
		must(err)
		must(revoke(orphan.Auth.ClientToken, orphan.Auth.Accessor))
		s.as(orphan.Auth.ClientToken).refused("transit/encrypt/orders", object{"plaintext": ""}, "403")
	}
}

func status(s server) {
	health, err := s.Sys().Health()
	must(err)
	expect("initialized", health.Initialized, true)
	expect("sealed", health.Sealed, false)
	if !strings.HasPrefix(health.Version, "1.") {
		log.Fatalf("the version is %s", health.Version)
	}
	seal, err := s.Sys().SealStatus()
	must(err)
	expect("sealed", seal.Sealed, false)
	expect("version", seal.Version, health.Version)
	_, err = s.Sys().Leader()
	must(err)
	initialized, err := s.Sys().InitStatus()
	must(err)
	expect("initialized", initialized, true)
	can, err := s.Sys().CapabilitiesSelf("transit/encrypt/orders")
	must(err)
	expect("capabilities", can, []string{"root"})
}
