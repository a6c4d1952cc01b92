// Passkeys travel as JSON, and browsers want bytes. Newer browsers convert by themselves (`parseRequestOptionsFromJSON`, `toJSON`); this
// is for the others.

export function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}

export function base64urlOf(bytes: ArrayBuffer): string {
  const text = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('')
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

type Descriptors = readonly { id: string; type: string; transports?: string[] }[] | undefined

const descriptors = (list: Descriptors): PublicKeyCredentialDescriptor[] | undefined =>
  list?.map(({ id, transports }) => ({
    id: bytesOf(id),
    type: 'public-key',
    ...(transports === undefined ? {} : { transports: transports as AuthenticatorTransport[] }),
  }))

/** For `navigator.credentials.get`. */
export function requestOptions(json: PublicKeyCredentialRequestOptionsJSON): PublicKeyCredentialRequestOptions {
  const { challenge, allowCredentials, extensions: _, hints: __, ...rest } = json
  const allowed = descriptors(allowCredentials)
  return {
    ...(rest as Pick<PublicKeyCredentialRequestOptions, 'rpId' | 'timeout' | 'userVerification'>),
    challenge: bytesOf(challenge),
    ...(allowed === undefined ? {} : { allowCredentials: allowed }),
  }
}

/** For `navigator.credentials.create`. */
export function creationOptions(json: PublicKeyCredentialCreationOptionsJSON): PublicKeyCredentialCreationOptions {
  const { challenge, user, excludeCredentials, extensions: _, hints: __, ...rest } = json
  const excluded = descriptors(excludeCredentials)
  return {
    ...(rest as Pick<PublicKeyCredentialCreationOptions, 'rp' | 'pubKeyCredParams' | 'timeout' | 'attestation'>),
    challenge: bytesOf(challenge),
    user: { ...user, id: bytesOf(user.id) },
    ...(excluded === undefined ? {} : { excludeCredentials: excluded }),
  }
}

/** What the browser answered, as the server reads it. */
export function credentialJson(credential: PublicKeyCredential): unknown {
  if (typeof credential.toJSON === 'function') return credential.toJSON()
  const response = credential.response as AuthenticatorResponse &
    Partial<AuthenticatorAssertionResponse & AuthenticatorAttestationResponse>
  const { authenticatorData, signature, userHandle, attestationObject } = response
  const bytes = { authenticatorData, signature, userHandle, attestationObject, clientDataJSON: response.clientDataJSON }
  const known = Object.entries(bytes).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [[name, base64urlOf(value)]],
  )
  const transports = response.getTransports?.()
  return {
    id: credential.id,
    rawId: base64urlOf(credential.rawId),
    type: credential.type,
    response: { ...Object.fromEntries(known), ...(transports === undefined ? {} : { transports }) },
    clientExtensionResults: {},
    ...(credential.authenticatorAttachment === null
      ? {}
      : { authenticatorAttachment: credential.authenticatorAttachment }),
  }
}
