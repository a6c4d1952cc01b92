import type { Passkey } from '../passkeys.ts'

export const samplePasskey: Passkey = {
  id: 'one',
  user: 'ada',
  label: 'Laptop',
  rpId: 'localhost',
  credentialId: 'Y3JlZA',
  publicKey: 'a2V5',
  counter: 0,
  transports: ['internal'],
  createdAt: 1_800_000_000_000,
  lastUsedAt: null,
}
