// An authenticator in software, for tests against the real WebAuthn library: one P-256 key, and a person who always agrees.

import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto'

interface Options {
  challenge: string
}

export interface SoftwareAuthenticator {
  /** Base64url. */
  readonly credentialId: string
  /** Tests set it back, as a copy of the key would be. */
  counter: number
  /** What `navigator.credentials.create` would give, as JSON. */
  create(options: Options, place: Place): Record<string, unknown> & { id: string }
  /** What `navigator.credentials.get` would give, as JSON. */
  get(options: Options, place: Place): Record<string, unknown> & { id: string }
}

interface Place {
  origin: string
  rpId: string
  /** Nobody typed a PIN or showed a finger. */
  isUnverified?: boolean
}

const PRESENT = 0x01
const VERIFIED = 0x04
const HAS_KEY = 0x40

export function createSoftwareAuthenticator(): SoftwareAuthenticator {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const credentialId = randomBytes(16)
  const id = credentialId.toString('base64url')
  // A COSE key: EC2, ES256, P-256.
  const coseKey = Buffer.concat([
    Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]),
    Buffer.from(x, 'base64url'),
    Buffer.from([0x22, 0x58, 0x20]),
    Buffer.from(y, 'base64url'),
  ])

  const authenticator: SoftwareAuthenticator = {
    credentialId: id,
    counter: 0,
    create({ challenge }, place) {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(credentialId.length)
      const data = Buffer.concat([
        dataFor(place, HAS_KEY, authenticator.counter),
        Buffer.alloc(16),
        length,
        credentialId,
        coseKey,
      ])
      const attestationObject = Buffer.concat([
        Buffer.from([0xa3]),
        cborText('fmt'),
        cborText('none'),
        cborText('attStmt'),
        Buffer.from([0xa0]),
        cborText('authData'),
        Buffer.from([0x58, data.length]),
        data,
      ])
      const response = {
        clientDataJSON: clientData('webauthn.create', challenge, place).toString('base64url'),
        attestationObject: attestationObject.toString('base64url'),
        transports: ['internal'],
      }
      return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response }
    },
    get({ challenge }, place) {
      authenticator.counter += 1
      const data = dataFor(place, 0, authenticator.counter)
      const client = clientData('webauthn.get', challenge, place)
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(privateKey)
      const response = {
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      }
      return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response }
    },
  }
  return authenticator
}

function dataFor({ rpId, isUnverified = false }: Place, flags: number, counter: number): Buffer {
  const rest = Buffer.alloc(5)
  rest.writeUInt8(PRESENT | (isUnverified ? 0 : VERIFIED) | flags)
  rest.writeUInt32BE(counter, 1)
  return Buffer.concat([sha256(Buffer.from(rpId)), rest])
}

const clientData = (type: string, challenge: string, { origin }: Place): Buffer =>
  Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))

const cborText = (text: string): Buffer => Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)])

const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()
