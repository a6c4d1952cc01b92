// Files of a workspace that are not shown to people in chats and consoles, because of what they usually hold. An agent can read them all
// the same. But what is shown in a chat stays there, for everybody who reads along.

import { ServerError } from '../../domain/errors.ts'
import { CREDENTIALS, KEY, secretFile } from '../../domain/text/secret-file.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import { foldedName } from './confine.ts'
import { reasonOfFolder } from './protected-path.ts'

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

/** Why a file or a folder is not shown, as a sentence; null if it may be. `path` is confined. Case does not matter, as some disks ignore it. */
export function secretPath(path: string): string | null {
  const names = path.split('/')
  const parts = names.map(foldedName)
  const reason = reasonOfFolder(FOLDERS, parts)
  if (reason !== undefined) return reason
  const name = parts.at(-1) ?? ''
  if (parts.at(-2) === '.docker' && name === 'config.json') return CREDENTIALS
  return secretFile(names.at(-1) ?? '', name)
}

/** Throws `forbidden`. `given` is what the person wrote; a link may have led from there to `path`. */
export function refuseSecret(path: string, given: string): void {
  const reason = secretPath(path)
  if (reason !== null) throw new ServerError('forbidden', `"${visibleText(given)}" is not shown here. ${reason}`)
}
