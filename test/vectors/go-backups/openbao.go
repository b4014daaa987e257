package main

import (
	"crypto/rsa"
	"math/big"
	"time"
)

// One version, as OpenBao writes it.
type entry struct {
	Key               []byte          `json:"key"`
	HMACKey           []byte          `json:"hmac_key"`
	Time              time.Time       `json:"time"`
	ECX               *big.Int        `json:"ec_x"`
	ECY               *big.Int        `json:"ec_y"`
	ECD               *big.Int        `json:"ec_d"`
	RSAKey            *rsa.PrivateKey `json:"rsa_key"`
	RSAPublicKey      *rsa.PublicKey  `json:"rsa_public_key"`
	PublicKey         string          `json:"public_key"`
	ConvergentVersion int             `json:"convergent_version"`
	CreationTime      int64           `json:"creation_time"`
	CertificateChain  [][]byte        `json:"certificate_chain"`
	ExternalKeyRef    string          `json:"external_key_ref"`
}

type record struct {
	Time    time.Time `json:"time"`
	Version int       `json:"version"`
}

type policy struct {
	Name                     string           `json:"name"`
	Key                      []byte           `json:"key,omitempty"`
	KeySize                  int              `json:"key_size,omitempty"`
	Keys                     map[string]entry `json:"keys"`
	Derived                  bool             `json:"derived"`
	KDF                      int              `json:"kdf"`
	Convergent               bool             `json:"convergent_encryption"`
	Exportable               bool             `json:"exportable"`
	MinDecryption            int              `json:"min_decryption_version"`
	MinEncryption            int              `json:"min_encryption_version"`
	Latest                   int              `json:"latest_version"`
	Archive                  int              `json:"archive_version"`
	ArchiveMin               int              `json:"archive_min_version"`
	MinAvailable             int              `json:"min_available_version"`
	DeletionAllowed          bool             `json:"deletion_allowed"`
	ConvergentVersion        int              `json:"convergent_version"`
	Type                     int              `json:"type"`
	BackupInfo               *record          `json:"backup_info"`
	RestoreInfo              *record          `json:"restore_info"`
	AllowPlaintextBackup     bool             `json:"allow_plaintext_backup"`
	VersionTemplate          string           `json:"version_template"`
	StoragePrefix            string           `json:"storage_prefix"`
	AutoRotatePeriod         time.Duration    `json:"auto_rotate_period"`
	Imported                 bool
	AllowImportedKeyRotation bool
	SoftDeleted              bool `json:"soft_deleted"`
}

type document struct {
	Policy  policy   `json:"policy"`
	Archive *archive `json:"archived_keys"`
}

type archive struct {
	Keys []entry `json:"keys"`
}
