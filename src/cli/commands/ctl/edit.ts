// An operator changes what the agent proposed. The text goes through the operator's editor, then the server makes a new diff of it, and
// only that diff is approved.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ClientError } from '../../../client/client-error.ts'
import { splitCommandLine } from '../../../domain/command-line.ts'
import { isRecord } from '../../../domain/is-record.ts'
import { shownDiff } from '../../../supervision/diffs/show-change.ts'
import { unifiedDiff } from '../../../supervision/diffs/unified-diff.ts'
import { CliError } from '../../cli-error.ts'
import { exitCodes } from '../../exit-codes.ts'
import { confirm, hasTerminal } from '../../terminal/confirm.ts'
import type { Io } from '../../terminal/io.ts'
import { styleFor } from '../../terminal/style.ts'
import { findApproval, stillNeeds } from './decide.ts'
import { readRecord, type ShownApproval } from './records.ts'
import type { CtlContext } from './run-ctl.ts'
import { paintDiff, recordLines } from './show-record.ts'

export async function edit(id: string, context: CtlContext): Promise<void> {
  const { io } = context
  if (!hasTerminal(io)) throw new CliError(exitCodes.failed.code, 'Editing needs a terminal, and there is none.')
  await editApproval(await findApproval(id, context), context)
}

const KEPT =
  'Not approved. It still waits, with your text in place of the agent’s: edit it again, approve it or reject it.'

/** Throws `CliError` if the person leaves the text as it was, or says no. */
export async function editApproval(approval: ShownApproval, context: CtlContext): Promise<void> {
  const { server, io } = context
  const before = await proposedText(approval, context)
  const after = openEditor(before, basename(approval.change?.file_path ?? 'arguments.json'), io)
  if (after === before) throw new CliError(exitCodes.failed.code, 'You have changed nothing. It still waits.')
  const isCall = approval.kind !== 'diff'
  const shown = isCall ? approval : await sendText(approval, after, context)
  const style = styleFor(io.stdout, io.env)
  const part = (title: string, lines: readonly string[]) =>
    void io.stdout.write(`${style.bold(title)}\n${lines.join('\n')}\n\n`)
  part('What the agent proposed', recordLines({ kind: 'approval', id: approval.approval_id, record: approval }, style))
  if (!isCall) part('With your text', recordLines({ kind: 'approval', id: shown.approval_id, record: shown }, style))
  part(
    'From the agent’s text to yours',
    differenceLines(before, after, (line) => paintDiff(line, style)),
  )
  await confirm('Approve your text?', io, isCall ? undefined : KEPT)
  const edited = isCall ? { arguments: argumentsIn(after) } : {}
  const answer = await server.post(`/approvals/${approval.approval_id}`, {
    decision: 'approve',
    digest: shown.digest,
    ...edited,
  })
  context.say(answer, stillNeeds(answer) ?? 'Approved with your text. The agent is told.')
}

const differenceLines = (before: string, after: string, paint: (line: string) => string): string[] =>
  shownDiff({ path: '', diff: `\n\n${unifiedDiff(before, after).hunks}` })
    .text.split('\n')
    .slice(2)
    .map(paint)

async function proposedText(approval: ShownApproval, { server }: CtlContext): Promise<string> {
  if (approval.kind === 'policy') {
    throw new CliError(
      exitCodes.usage.code,
      'A policy is accepted or rejected as it is. Edit the file in the workspace instead.',
    )
  }
  if (approval.question) {
    throw new CliError(
      exitCodes.usage.code,
      'This is a question, so there is nothing to edit. The verb for it: answer.',
    )
  }
  if (approval.kind !== 'diff') return `${JSON.stringify(approval.arguments, null, 2)}\n`
  const { record } = readRecord.approval(await server.get(`/approvals/${approval.approval_id}?include=content`))
  return record.content ?? ''
}

/** The server keeps the text and makes a new diff of it. Nothing is decided yet. */
async function sendText(approval: ShownApproval, content: string, { server }: CtlContext): Promise<ShownApproval> {
  const path = `/approvals/${approval.approval_id}`
  try {
    await server.post(path, { decision: 'approve', digest: approval.digest, content })
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'approval_changed') throw error
    const { record } = readRecord.approval(await server.get(path))
    if (record.digest !== error.problem?.digest) {
      throw new CliError(exitCodes.failed.code, 'Somebody else has edited it at the same time. Look at it again.')
    }
    return record
  }
  throw new CliError(exitCodes.failed.code, 'Your text is the one that the server has already, and it is approved.')
}

function argumentsIn(text: string): Record<string, unknown> {
  let value: unknown = null
  try {
    value = JSON.parse(text)
  } catch {}
  if (isRecord(value)) return value
  throw new CliError(exitCodes.failed.code, 'The arguments must be a JSON object. Nothing has changed.')
}

function openEditor(text: string, name: string, io: Io): string {
  const command = io.env.VISUAL || io.env.EDITOR || 'vi'
  const split = splitCommandLine(command)
  const [program, ...args] = split.ok ? split.argv : []
  if (program === undefined) throw new CliError(exitCodes.usage.code, `EDITOR cannot be understood: ${command}`)
  const folder = mkdtempSync(join(tmpdir(), 'quarterdeck-edit-'))
  const file = join(folder, /^[\w.-]+$/.test(name) ? name : 'proposed.txt')
  try {
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' })
    const { error, status } = spawnSync(program, [...args, file], { stdio: 'inherit' })
    if (error !== undefined || status !== 0) {
      const why = error === undefined ? `it ended with ${status}` : error.message
      throw new CliError(exitCodes.failed.code, `The editor ${command} failed (${why}). Nothing has changed.`, [
        'Set EDITOR to the one that you use.',
      ])
    }
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
