// An operator changes what the agent proposed. The text goes through the operator's editor, then the server makes a new diff of it, and
// only that diff is approved.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ClientError } from '../../../client/client-error.ts'
import { answerBody } from '../../../client/supervision.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { jsonIn } from '../../../domain/json-in.ts'
import { splitCommandLine } from '../../../domain/text/command-line.ts'
import { shownDiff } from '../../../supervision/diffs/show-change.ts'
import { unifiedDiff } from '../../../supervision/diffs/unified-diff.ts'
import { failure, usageError } from '../../cli-error.ts'
import { paintDiff, recordLines } from '../../show-record.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { confirm, hasTerminal } from '../../terminal/terminal-prompt.ts'
import { actionOf, sendAnswer } from './answer.ts'
import type { CtlContext } from './ctl-server.ts'
import { findRecord, readRecord, type ShownRecord } from './records.ts'

export async function edit(context: CtlContext, id: string): Promise<void> {
  const { io, server } = context
  if (!hasTerminal(io)) throw failure('Editing needs a terminal, and there is none.')
  await editRecord(await findRecord(server, id), context)
}

const KEPT =
  'Not approved. It still waits, with your text in place of the agent’s: edit it again, approve it or reject it.'

/** Throws `CliError` if the person leaves the text as it was, or says no. */
export async function editRecord(record: ShownRecord, context: CtlContext): Promise<void> {
  const { io } = context
  const { request } = actionOf(record, 'edit')
  const isFile = record.kind === 'diff'
  const before = isFile
    ? (readRecord(await context.server.get(`${request.path}?include=content`)).content ?? '')
    : `${JSON.stringify(record.arguments, null, 2)}\n`
  const after = openEditor(before, basename(record.change?.file_path ?? 'arguments.json'), io)
  if (after === before) throw failure('You have changed nothing. It still waits.')
  const shown = isFile ? await sendText(record, after, context) : record
  const style = styleFor(io.stdout, io.env)
  const part = (title: string, lines: readonly string[]) =>
    void io.stdout.write(`${style.bold(title)}\n${lines.join('\n')}\n\n`)
  part('What the agent proposed', recordLines(record.view, style))
  if (isFile) part('With your text', recordLines(shown.view, style))
  part(
    'From the agent’s text to yours',
    differenceLines(before, after, (line) => paintDiff(line, style)),
  )
  await confirm('Approve your text?', io, isFile ? KEPT : undefined)
  const edited = isFile ? {} : { arguments: argumentsIn(after) }
  await sendAnswer(shown, actionOf(shown, 'edit'), { more: edited }, context)
}

const differenceLines = (before: string, after: string, paint: (line: string) => string): string[] =>
  shownDiff({ path: '', diff: `\n\n${unifiedDiff(before, after).hunks}` })
    .text.split('\n')
    .slice(2)
    .map(paint)

/** The server keeps the text and makes a new diff of it. Nothing is decided yet. */
async function sendText(record: ShownRecord, content: string, { server }: CtlContext): Promise<ShownRecord> {
  const action = actionOf(record, 'edit')
  const { path } = action.request
  try {
    await server.post(path, answerBody(action, { more: { content } }))
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'approval_changed') throw error
    const kept = readRecord(await server.get(path))
    if (kept.digest !== error.problem?.digest) {
      throw failure('Somebody else has edited it at the same time. Look at it again.')
    }
    return kept
  }
  throw failure('Your text is the one that the server has already, and it is approved.')
}

function argumentsIn(text: string): Record<string, unknown> {
  const value = jsonIn(text)
  if (isRecord(value)) return value
  throw failure('The arguments must be a JSON object. Nothing has changed.')
}

function openEditor(text: string, name: string, io: Io): string {
  const command = io.env.VISUAL || io.env.EDITOR || 'vi'
  const split = splitCommandLine(command)
  const [program, ...args] = split.ok ? split.argv : []
  if (program === undefined) throw usageError(`EDITOR cannot be understood: ${command}`)
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-edit-'))
  const file = join(folder, /^[\w.-]+$/.test(name) ? name : 'proposed.txt')
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
    const { error, status } = spawnSync(program, [...args, file], { stdio: 'inherit' })
    if (error !== undefined || status !== 0) {
      const why = error === undefined ? `it ended with ${status}` : error.message
      throw failure(`The editor ${command} failed (${why}). Nothing has changed.`, [
        'Set EDITOR to the one that you use.',
      ])
    }
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
