// Where the arguments of a host's tool lead on this disk. A tool may name a file in any argument and in many ways, so every text that can
// be a path is followed. In doubt a person is asked.

import { existsSync } from 'node:fs'
import { isAbsolute, join, normalize, parse, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { visibleText } from '../../domain/text/visible-text.ts'
import { textsIn } from '../../json/texts-in.ts'
import { createRealPath } from '../policy/real-path.ts'
import type { FileAccess } from './protected-path.ts'
import { createWhereLeads, type Place } from './where-leads.ts'

export interface GuardedCall {
  /** A real path. */
  workspaceRoot: string
  access: FileAccess
  /** The arguments: any JSON. */
  input: unknown
  /** Where the agent is. By default in the workspace's root. */
  cwd?: string
  /** Names of arguments that are not paths. */
  without?: ReadonlySet<string>
}

/** Why only a person may decide about a call, as a sentence; null if none of its arguments leads to a protected place or out of the workspace. */
export type GuardArguments = (call: GuardedCall) => string | null

/** No system takes a longer path. */
const MAX_PATH_CHARS = 4_096
const MAX_TEXTS = 1_000
const SHOWN_CHARS = 200

/** `serverPaths`: see `createServerPlaces`. `home`: what `~` means. */
export function createGuardArguments(serverPaths: readonly string[], home: string): GuardArguments {
  const whereLeads = createWhereLeads(serverPaths)

  function reasonAt({ path, ours, named }: Place, written: string): string | null {
    const shown = `The path ${quoted(written)}`
    if (ours !== null) return `${shown} is protected: ${ours}`
    if (path === null) return leadsOut(written) ? `${shown} leads out of the workspace.` : null
    return named === null ? null : `${shown} is protected: ${named}`
  }

  /** Throws if it is not clear where the text leads. */
  function reasonFor(text: string, realPath: (path: string) => string, call: GuardedCall): string | null {
    const { workspaceRoot, cwd = workspaceRoot } = call
    for (const written of spellings(text, home)) {
      for (const base of new Set([cwd, workspaceRoot])) {
        // Not `join`: `link/..` is the folder above the target of the link. But some tools remove `..` first.
        const whole = isAbsolute(written) ? written : `${base}${sep}${written}`
        for (const path of new Set([whole, resolve(base, written)])) {
          const place = whereLeads(path, { workspaceRoot, access: call.access, realPath })
          const reason = place === null ? null : reasonAt(place, written)
          if (reason !== null) return reason
        }
      }
    }
    return null
  }

  return (call) => {
    const realPath = createRealPath()
    let count = 0
    for (const text of textsIn(call.input, call.without)) {
      count += 1
      if (count > MAX_TEXTS) return 'The call has too many arguments to look at.'
      if (text.trim() === '' || isTooLong(text)) continue
      try {
        const reason = reasonFor(text, realPath, call)
        if (reason !== null) return reason
      } catch {
        return `It is not clear where the path ${quoted(text)} leads.`
      }
    }
    return null
  }
}

/** Many tools take `x/..` and `//` out of a path before they use it. */
export const isTooLong = (text: string): boolean =>
  text.length > MAX_PATH_CHARS && normalize(text.trim()).length > MAX_PATH_CHARS

const quoted = (written: string): string => `"${visibleText(written.slice(0, SHOWN_CHARS))}"`

/** What a tool may take a text for. Throws for one that only a shell or another system can follow. */
export function* spellings(text: string, home: string): Generator<string> {
  const plain = text.trim()
  // Some hosts write a file as @name, or in quotes.
  yield* new Set([text, plain, plain.replace(/^@/, ''), plain.replace(/^(["'`])(.*)\1$/s, '$2')])
  if (/^(?:~[^/\\\s]+|\$\w+|\$\{\w+\}|%\w+%)[/\\]/.test(plain))
    throw new Error('A variable or a user may stand for any folder.')
  if (/^~(?=[/\\]|$)/.test(plain)) yield home + plain.slice(1)
  if (/^file:/i.test(plain)) yield* [fileURLToPath(plain), plain.slice('file:'.length)]
  if (sep === '/' && plain.includes('\\')) yield plain.replaceAll('\\', '/')
  if (/%[0-9a-f]{2}/i.test(plain)) yield decodeURIComponent(plain)
}

/** Text that begins with a slash is not always a path: `/v1/users` is none where there is no folder `/v1`. */
export function leadsOut(written: string): boolean {
  if (!isAbsolute(written)) return true
  const { root } = parse(written)
  const [first = ''] = written.slice(root.length).split(sep).filter(Boolean)
  return existsSync(join(root, first))
}
