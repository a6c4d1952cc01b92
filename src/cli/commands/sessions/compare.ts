import { type AuditEntry, importedMain, MAIN_CHAIN } from '../../../domain/supervision/audit.ts'
import { systemErrorCode } from '../../../domain/system-error-code.ts'
import { unreachable } from '../../../domain/unreachable.ts'
import type { Blobs } from '../../../files/keep/blob-folder.ts'
import { canonicalJson } from '../../../json/digest.ts'
import type { StoreReads } from '../../../store/store.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { counted } from '../../terminal/terminal-text.ts'
import { hashOf } from '../backup/new-folder.ts'
import type { ArchivedRecords } from './archive-lines.ts'
import type { ArchiveSource } from './export.ts'
import { type ArchiveLine, readArchive } from './session-archive.ts'
import { differences, findersIn } from './stored-session.ts'

type Finding = 'same' | 'missing' | 'different'

/** Looks for everything of an archive in the store, and changes nothing. Says what is missing or different there. */
export async function compareSessions({ stored, blobs }: ArchiveSource, file: string, io: Io): Promise<number> {
  const tally: Record<Finding, number> = { same: 0, missing: 0, different: 0 }
  const looked = { sessions: 0, files: 0, records: 0, entries: 0 }
  let problems = 0
  const chainNames = new Map<string, string>()
  for await (const { line, number } of readArchive(file, io)) {
    const found = await stored.read((store) => look(store, blobs, line, chainNames))
    if (line.type === 'bytes') looked.files += found.length
    else if (line.type === 'records') looked.records += found.length
    else if (line.type === 'audit') looked.entries += line.entries.length
    for (const { what, finding, details } of found) {
      if (line.type === 'session') {
        looked.sessions += 1
        tally[finding] += 1
      }
      if (finding === 'same') continue
      problems += 1
      io.stdout.write(`Line ${number}: ${what} is ${finding}${details === '' ? '' : ` (${details})`}.\n`)
    }
  }
  const { same, missing, different } = tally
  io.stderr.write(
    problems === 0
      ? `Nothing differs: ${wordsFor(looked)} the same.\n`
      : `${counted(problems, 'difference')}. Sessions: ${same} the same, ${missing} missing, ${different} different.\n`,
  )
  return problems === 0 ? exitCodes.ok.code : exitCodes.failed.code
}

/** `12 sessions, 1 file, and 45 entries of the audit trail are`. */
function wordsFor({ sessions, files, records, entries }: Record<'sessions' | 'files' | 'records' | 'entries', number>) {
  const parts = [
    counted(sessions, 'session'),
    ...(files === 0 ? [] : [counted(files, 'file')]),
    ...(records === 0 ? [] : [counted(records, 'other record')]),
    ...(entries === 0 ? [] : [`${counted(entries, 'entry', 'entries')} of the audit trail`]),
  ]
  return `${new Intl.ListFormat('en').format(parts)} ${parts.length === 1 && sessions === 1 ? 'is' : 'are'}`
}

interface Found {
  what: string
  finding: Finding
  details: string
}

async function look(
  store: StoreReads,
  blobs: Pick<Blobs, 'open'>,
  line: ArchiveLine,
  chainNames: Map<string, string>,
): Promise<Found[]> {
  switch (line.type) {
    case 'session': {
      const differ = await differences(store, line.session)
      const finding = differ === null ? 'missing' : differ.length === 0 ? 'same' : 'different'
      return [{ what: `session ${line.session.session.id}`, finding, details: differ?.join(', ') ?? '' }]
    }
    case 'bytes': {
      const { sha256, n } = line.part
      // Once for each file.
      if (n > 0) return []
      return [{ what: `the file ${sha256}`, finding: await findBytes(blobs, sha256), details: '' }]
    }
    case 'records':
      return recordsIn(store, line.records)
    case 'audit':
      return [await chainIn(store, line.entries, chainNames)]
    case 'end':
      return []
    default:
      return unreachable(line)
  }
}

async function findBytes(blobs: Pick<Blobs, 'open'>, sha256: string): Promise<Finding> {
  using open = await blobs.open(sha256)
  try {
    return (await hashOf(open.path)) === sha256 ? 'same' : 'different'
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return 'missing'
    throw error
  }
}

async function recordsIn(store: StoreReads, records: ArchivedRecords): Promise<Found[]> {
  const { grants = [], instructions = [], pins = [], usage = [], notes = [] } = records
  const found: Found[] = []
  const compare = (what: string, wanted: unknown, here: unknown) => {
    const isSame = canonicalJson(here) === canonicalJson(wanted)
    found.push({ what, finding: here === null ? 'missing' : isSame ? 'same' : 'different', details: '' })
  }
  const find = findersIn(store)
  for (const one of grants) compare(`grant ${one.id}`, one, await find.grant(one))
  for (const one of pins) compare(`policy of ${one.workspaceRoot}`, one, await find.pin(one))
  for (const one of usage) compare(`usage of session ${one.sessionId}`, one, await find.usage(one))
  for (const one of notes) compare(`note of ${one.key} among ${one.channel}`, one, await find.note(one))
  for (const one of instructions) compare(`task ${one.id}`, one, await find.task(one))
  return found
}

async function chainIn(
  store: StoreReads,
  entries: readonly AuditEntry[],
  chainNames: Map<string, string>,
): Promise<Found> {
  const [first] = entries
  if (first === undefined) return { what: 'the audit trail', finding: 'same', details: '' }
  const { chain } = first
  if (first.n === 1) chainNames.set(chain, chain === MAIN_CHAIN ? importedMain(first.hash) : chain)
  const name = chainNames.get(chain) ?? chain
  const here = await store.audit.entries(first.n - 1, entries.length, name)
  const differs = entries.findIndex(({ text, hash }, i) => here[i]?.text !== text || here[i]?.hash !== hash)
  const finding = here.length === 0 ? 'missing' : differs < 0 ? 'same' : 'different'
  const from = differs < 0 ? '' : `from entry ${first.n + differs}`
  return { what: `chain ${name} of the audit trail`, finding, details: from }
}
