// A plugin of age, as a module of its own: it is built of what age is built of.
module coffer.test/clients/age-plugin-gopher

go 1.26

require filippo.io/age v1.3.1

require (
	filippo.io/hpke v0.4.0 // indirect
	golang.org/x/crypto v0.45.0 // indirect
	golang.org/x/sys v0.38.0 // indirect
	golang.org/x/term v0.37.0 // indirect
)
