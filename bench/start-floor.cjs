'use strict';
// What `transit encrypt` is compared with: one AES-256-GCM of standard input with node:crypto, and nothing else.
const { createCipheriv, createSecretKey, randomBytes } = require('node:crypto');
const { readFileSync, writeSync } = require('node:fs');

const iv = randomBytes(12);
const cipher = createCipheriv('aes-256-gcm', createSecretKey(randomBytes(32)), iv);
const sealed = [iv, cipher.update(readFileSync(0)), cipher.final(), cipher.getAuthTag()];
writeSync(1, `${Buffer.concat(sealed).toString('base64')}\n`);
