// Names of files that usually hold passwords, tokens or keys.

import { looksSecret } from './secret-name.ts'

const ENVIRONMENT = 'Such a file holds passwords and keys of the environment.'
export const KEY = 'Such a file holds a key.'
export const CREDENTIALS = 'Such a file holds passwords or tokens.'

const FILES: readonly (readonly [RegExp, string])[] = [
  [/^\.env|\.env$/, ENVIRONMENT],
  [/\.(?:pem|key|p8|p12|pfx|jks|keystore|kdbx?|ppk|gpg|pgp|age|ovpn)$/, KEY],
  // `id_rsa`, `id_rsa.pub` and `id_work`, but not `id_map.ts`.
  [/^id_(?:[^.]*(?:\.pub)?|(?:rsa|dsa|ecdsa|ed25519).*)$/, KEY],
  [/^(?:[._]netrc|\.npmrc|\.yarnrc(?:\.ya?ml)?|\.pypirc|pip\.conf|\.pgpass|\.my\.cnf|\.htpasswd)$/, CREDENTIALS],
  [/^(?:\.git-credentials|\.dockercfg|\.vault-token|\.boto|\.s3cfg|kubeconfig|auth\.json)$/, CREDENTIALS],
  [/^\.?(?:credentials?|secrets?)(?:[._-].*)?\.(?:json|ya?ml|toml|ini|txt|enc|xml|properties)$/, CREDENTIALS],
  [/^(?:service[-_]?account|client[-_]secret).*\.json$/, CREDENTIALS],
  [/\.(?:tfstate|tfvars)(?:\.(?:json|backup))?$/, CREDENTIALS],
]

/** Files of these types are data. The name of a program may well contain `token`. */
const DATA = /(?:^[^.]+|\.(?:txt|json|ya?ml|toml|ini|cfg|conf|properties|xml|csv))$/

const PRIVATE_KEY = /^-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----/m

/** Why a file of this name is not shown, as a sentence; null if it may be. `folded`: the name as patterns expect it, without capitals. */
export function secretFile(name: string, folded: string): string | null {
  const found = FILES.find(([pattern]) => pattern.test(folded))?.[1]
  if (found !== undefined) return found
  return DATA.test(folded) && looksSecret(name) ? CREDENTIALS : null
}

/** The same for what is in a file, whatever its name. */
export const secretText = (text: string): string | null => (PRIVATE_KEY.test(text) ? 'It holds a private key.' : null)
