// Files of a workspace that are not shown to people in chats and consoles, because of what they usually hold. An agent can read them all
// the same. But what is shown in a chat stays there, for everybody who reads along.

import { ServerError } from '../../domain/errors.ts'
import { looksSecret } from '../../domain/text/secret-name.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { foldedName } from './confine.ts'
import { reasonOfFolder } from './protected-path.ts'

const ENVIRONMENT = 'Such a file holds passwords and keys of the environment.'
const KEY = 'Such a file holds a key.'
const CREDENTIALS = 'Such a file holds passwords or tokens.'
const GIT = 'The folder of git holds its whole history and can hold tokens.'

/** Everything in them is secret, wherever in the workspace they are. Folded names. */
const FOLDERS: ReadonlyMap<string, string> = new Map([
  ['.git', GIT],
  ['.ssh', KEY],
  ['.gnupg', KEY],
  ['.aws', CREDENTIALS],
  ['.azure', CREDENTIALS],
  ['.gcloud', CREDENTIALS],
  ['.kube', CREDENTIALS],
])

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

/** Why a file or a folder is not shown, as a sentence; null if it may be. `path` is confined. Case does not matter, as some disks ignore it. */
export function secretPath(path: string): string | null {
  const names = path.split('/')
  const parts = names.map(foldedName)
  const reason = reasonOfFolder(FOLDERS, parts)
  if (reason !== undefined) return reason
  const name = parts.at(-1) ?? ''
  if (parts.at(-2) === '.docker' && name === 'config.json') return CREDENTIALS
  const found = FILES.find(([pattern]) => pattern.test(name))?.[1]
  if (found !== undefined) return found
  return DATA.test(name) && looksSecret(names.at(-1) ?? '') ? CREDENTIALS : null
}

/** Throws `forbidden`. `given` is what the person wrote; a link may have led from there to `path`. */
export function refuseSecret(path: string, given: string): void {
  const reason = secretPath(path)
  if (reason !== null) throw new ServerError('forbidden', `"${visibleText(given)}" is not shown here. ${reason}`)
}

/** The same for what is in a file, whatever its name. */
export const secretText = (text: string): string | null => (PRIVATE_KEY.test(text) ? 'It holds a private key.' : null)
