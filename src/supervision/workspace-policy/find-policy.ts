// The policy file of a workspace, read from the disk. The agent can write there, so nothing about the file is trusted: not its size,
// not its kind, and no link is followed.

import { hash } from 'node:crypto'
import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { systemErrorCode } from '../../domain/system-error-code.ts'
import { MAX_POLICY_BYTES, tooLarge } from './read-policy.ts'

/** In the order in which they count: the first one that exists is the policy, even if it cannot be read. */
export const POLICY_FILES = ['.quarterdeck/policy.json', '.monocoque/settings.json'] as const

export type PolicyFile = (typeof POLICY_FILES)[number]

export type FoundPolicy =
  /** There is no policy file. */
  | { state: 'none' }
  /** `reason` says why, and what to do. */
  | { state: 'unreadable'; file: PolicyFile; reason: string }
  | { state: 'text'; file: PolicyFile; text: string; sha256: string }

/** Reads at most 64 KiB and never waits, so it may be called for every request. Never throws. */
export function findPolicy(workspaceRoot: string): FoundPolicy {
  for (const file of POLICY_FILES) {
    const [folder = ''] = file.split('/')
    const found = statusOf(join(workspaceRoot, folder))
    if (found === 'missing') continue
    if (found !== 'folder') return { state: 'unreadable', file, reason: found }
    const read = readPolicyFile(join(workspaceRoot, file))
    if (read === null) continue
    return 'reason' in read ? { state: 'unreadable', file, ...read } : { state: 'text', file, ...read }
  }
  return { state: 'none' }
}

/** Null: nothing exists there. */
export function readPolicyFile(path: string): { text: string; sha256: string } | { reason: string } | null {
  let descriptor: number
  try {
    // O_NONBLOCK: opening a named pipe would otherwise wait for a writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    return isMissing(error) ? null : { reason: whyNot(error) }
  }
  try {
    if (!fstatSync(descriptor).isFile()) return { reason: 'it is not a regular file.' }
    const bytes = Buffer.alloc(MAX_POLICY_BYTES + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null)
    }
    if (length > MAX_POLICY_BYTES) return { reason: tooLarge }
    return textOf(bytes.subarray(0, length))
  } catch (error) {
    return { reason: whyNot(error) }
  } finally {
    closeSync(descriptor)
  }
}

function textOf(bytes: Uint8Array): { text: string; sha256: string } | { reason: string } {
  try {
    // The mark at the start stays in the text, so that different bytes are always different texts.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return { text, sha256: hash('sha256', bytes, 'hex') }
  } catch {
    return { reason: 'it is not UTF-8 text. Save it as UTF-8.' }
  }
}

/** `folder`, `missing`, or why it is neither. */
function statusOf(folder: string): string {
  try {
    const stats = lstatSync(folder)
    if (stats.isDirectory()) return 'folder'
    if (stats.isSymbolicLink()) return 'its folder is a link. Put the file into a real folder of the workspace.'
    return 'missing'
  } catch (error) {
    return isMissing(error) ? 'missing' : whyNot(error)
  }
}

const isMissing = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error))

function whyNot(error: unknown): string {
  const code = systemErrorCode(error)
  if (code === 'ELOOP') return 'it is a link. Put the file itself there.'
  if (code === 'EACCES' || code === 'EPERM') return 'the server may not read it. Change its permissions.'
  return `it cannot be read (${code === '' ? 'unknown error' : code}).`
}
