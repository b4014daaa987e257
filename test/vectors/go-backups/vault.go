package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/json"
	"math/big"
	"time"
)

// One version, as newer releases of Vault write it: what is empty is left out.
type vaultEntry struct {
	Key               []byte          `json:"key"`
	HMACKey           []byte          `json:"hmac_key"`
	Time              time.Time       `json:"time"`
	ECX               *big.Int        `json:"ec_x,omitempty"`
	ECY               *big.Int        `json:"ec_y,omitempty"`
	ECD               *big.Int        `json:"ec_d,omitempty"`
	RSAKey            *rsa.PrivateKey `json:"rsa_key,omitempty"`
	RSAPublicKey      *rsa.PublicKey  `json:"rsa_public_key,omitempty"`
	PublicKey         string          `json:"public_key,omitempty"`
	ConvergentVersion int             `json:"convergent_version,omitempty"`
	CreationTime      int64           `json:"creation_time"`
	ManagedKeyID      string          `json:"managed_key_id,omitempty"`
	CertificateChain  [][]byte        `json:"certificate_chain,omitempty"`
}

type vaultArchive struct {
	Keys []vaultEntry `json:"keys"`
}

func inVaultLayout(e entry) vaultEntry {
	return vaultEntry{Key: e.Key, HMACKey: e.HMACKey, Time: e.Time, ECX: e.ECX, ECY: e.ECY, ECD: e.ECD, RSAKey: e.RSAKey,
		RSAPublicKey: e.RSAPublicKey, PublicKey: e.PublicKey, ConvergentVersion: e.ConvergentVersion, CreationTime: e.CreationTime}
}

// The same document with Vault's set of fields: no soft deletion, no external keys, but its own settings.
func encodeForVault(d document) string {
	keys := map[string]vaultEntry{}
	for version, e := range d.Policy.Keys {
		keys[version] = inVaultLayout(e)
	}
	kept := vaultArchive{}
	for _, e := range d.Archive.Keys {
		kept.Keys = append(kept.Keys, inVaultLayout(e))
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(must(json.Marshal(d.Policy)), &fields); err != nil {
		panic(err)
	}
	delete(fields, "soft_deleted")
	fields["keys"] = must(json.Marshal(keys))
	fields["ParameterSet"] = []byte(`""`)
	fields["HybridConfig"] = []byte(`{"PQCKeyType":"","ECKeyType":""}`)
	return encode(map[string]any{"policy": fields, "archived_keys": kept})
}

func vaultFixtures() []fixture {
	aes := blank(1)
	aes.Key = random(32)
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	p256 := blank(1)
	p256.ECX, p256.ECY, p256.ECD, p256.PublicKey = key.X, key.Y, key.D, spkiPEM(&key.PublicKey)
	modulus := must(rsa.GenerateKey(rand.Reader, 2048))
	big := blank(1)
	big.RSAKey, big.RSAPublicKey = modulus, &modulus.PublicKey
	mac := blank(1)
	mac.Key = random(32)
	mac.HMACKey = mac.Key
	macPolicy := base("vault-hmac", 11)
	macPolicy.KeySize = 32
	digest := sha256.Sum256(message)
	return []fixture{
		{"vault-aes256-gcm96", "fields as Vault writes them", "aes256-gcm96",
			encodeForVault(assemble(base("vault-aes256-gcm96", 0), 1, []entry{aes})),
			[]check{{Kind: "decrypt", Text: numbered(1, sealed(gcm(aes.Key), random(12), nil)), Message: message}, hmacCheck(1, aes.HMACKey)}},
		{"vault-ecdsa-p256", "fields as Vault writes them", "ecdsa-p256",
			encodeForVault(assemble(base("vault-ecdsa-p256", 1), 1, []entry{p256})),
			[]check{{Kind: "verify", Text: numbered(1, must(ecdsa.SignASN1(rand.Reader, key, digest[:]))), Message: message}}},
		{"vault-rsa-2048", "fields as Vault writes them", "rsa-2048",
			encodeForVault(assemble(base("vault-rsa-2048", 3), 1, []entry{big})),
			[]check{{Kind: "verify", Text: numbered(1, must(rsa.SignPSS(rand.Reader, modulus, crypto.SHA256, digest[:], nil))), Message: message}}},
		{"vault-hmac", "type 11 in Vault's numbering", "hmac",
			encodeForVault(assemble(macPolicy, 1, []entry{mac})), []check{hmacCheck(1, mac.Key)}},
	}
}
