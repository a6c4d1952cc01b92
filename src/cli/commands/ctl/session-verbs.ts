// Commands for one session of an agent elsewhere.

import { resolve } from 'node:path'
import { operationalModes } from '../../../domain/supervision/supervision.ts'
import { CommandResultSchema, PurgedSchema } from '../../../protocols/manage/supervision/checkpoint-schema.ts'
import { SupervisionSchema } from '../../../protocols/shared/supervised/schema.ts'
import { failure, usageError } from '../../cli-error.ts'
import { confirm, hasTerminal } from '../../terminal/terminal-prompt.ts'
import { counted, terminalLine, terminalText } from '../../terminal/terminal-text.ts'
import type { CtlContext } from './ctl-server.ts'
import { findSession, understood } from './records.ts'

type InSession = { session?: string }

/** Sends a command to a session, and says what has become of it. */
async function tell(
  { server, say }: CtlContext,
  { session }: InSession,
  command: string,
  body: object,
  words: string,
): Promise<void> {
  const { session_id: id } = await findSession(server, session)
  say(await server.post(`/sessions/${id}/${command}`, body), words)
}

export async function mode(context: CtlContext, wanted: string | undefined, { session }: InSession): Promise<void> {
  if (wanted !== undefined && !operationalModes.some((one) => one === wanted)) {
    throw usageError(`${JSON.stringify(wanted)} is not a mode. Write ${operationalModes.join(', ')}.`)
  }
  const { session_id: id, mode: current } = await findSession(context.server, session)
  if (wanted === undefined) return context.say({ session_id: id, mode: current }, terminalLine(current, 20))
  const answer = await context.server.post(`/sessions/${id}/mode`, { mode: wanted })
  context.say(answer, `The mode is ${wanted}; it was ${terminalLine(current, 20)}.`)
}

export const pause = (context: CtlContext, inSession: InSession): Promise<void> =>
  tell(
    context,
    inSession,
    'pause',
    {},
    `Paused: its calls are refused until ${context.typed('resume')}. Its process goes on.`,
  )

export async function stalls(context: CtlContext, wanted: string | undefined, { session }: InSession): Promise<void> {
  if (wanted !== undefined && wanted !== 'on' && wanted !== 'off') {
    throw usageError(`${JSON.stringify(wanted)} is neither on nor off.`)
  }
  const { session_id: id, stalls_enabled: isOn } = await findSession(context.server, session)
  if (wanted === undefined) return context.say({ session_id: id, stalls_enabled: isOn }, isOn ? 'on' : 'off')
  const answer = await context.server.post(`/sessions/${id}/stalls`, { enabled: wanted === 'on' })
  const off = `Off: its silence raises no alert and no nudge until ${context.typed('stalls on')}.`
  context.say(answer, wanted === 'on' ? 'On: its silence counts from now.' : off)
}

export async function terminate(
  context: CtlContext,
  { session, reason, yes }: InSession & { reason?: string; yes?: boolean },
): Promise<void> {
  const { session_id: id, host, title, workspace_root } = await findSession(context.server, session)
  if (yes !== true && hasTerminal(context.io) && !context.json) {
    const what = terminalLine([host, title ?? '', workspace_root].filter((word) => word !== '').join('  '), 120)
    context.io.stdout.write(`Session ${id} (${what}).\n`)
    await confirm('End it?', context.io)
  }
  const answer = await context.server.post(`/sessions/${id}/terminate`, { reason })
  context.say(answer, 'Terminated. What was pending is interrupted.')
}

export const steer = (
  context: CtlContext,
  words: string[],
  { now, ...inSession }: InSession & { now?: boolean },
): Promise<void> =>
  now === true
    ? tell(context, inSession, 'steer', { text: words.join(' '), now }, 'The agent gets it as soon as it can.')
    : tell(context, inSession, 'steer', { text: words.join(' ') }, 'The agent gets it with its next result.')

export async function task(
  context: CtlContext,
  words: string[],
  { session, workspace }: InSession & { workspace?: string },
): Promise<void> {
  const text = words.join(' ')
  if (workspace !== undefined) {
    if (session !== undefined) throw usageError('Send --workspace or --session, not both.')
    const asked = workspaceAt(workspace, context.io.cwd)
    const answer = await context.server.post(`/workspaces/${encodeURIComponent(asked)}/tasks`, { text })
    return context.say(answer, `Your next session in ${terminalLine(workspace, 200)} gets it.`)
  }
  const { session_id: id, workspace_root } = await findSession(context.server, session)
  const answer = await context.server.post(`/sessions/${id}/task`, { text })
  context.say(answer, `The next session in ${terminalLine(workspace_root, 200)} gets it.`)
}

export const handover = (context: CtlContext, to: string, inSession: InSession): Promise<void> =>
  tell(context, inSession, 'handover', { to }, `The session belongs to ${terminalLine(to, 128)} now.`)

export function nudge(context: CtlContext, words: string[], inSession: InSession): Promise<void> {
  const text = words.join(' ')
  return tell(context, inSession, 'nudge', text === '' ? {} : { message: text }, 'Nudged.')
}

/** Throws `CliError` if the command fails, after its output is printed. */
export async function run(context: CtlContext, alias: string, { session }: InSession): Promise<void> {
  const { session_id: id } = await findSession(context.server, session)
  const answer = await context.server.post(`/sessions/${id}/run`, { alias })
  const { output, exit_code, ended, problem } = understood(CommandResultSchema, answer)
  context.say(answer, terminalText(output).trimEnd())
  // A command that was ended at its time limit may still end with 0.
  if (exit_code === 0 && ended === 'exit') return
  const why = problem ?? (exit_code ? `it ended with ${exit_code}` : ended)
  const shown = terminalLine(why, 200).replace(/\.$/, '')
  throw failure(`The command ${JSON.stringify(alias)} failed: ${shown}.`)
}

/** A path counts from this folder; a word is the id of a workspace of the settings, as in Slack. */
const workspaceAt = (given: string, cwd: string): string =>
  /[\\/]|^\.{1,2}$/.test(given) ? resolve(cwd, given) : given

export async function start(
  context: CtlContext,
  words: string[],
  { workspace, host, title }: { workspace?: string; host?: string; title?: string },
): Promise<void> {
  const answer = await context.server.post('/sessions', {
    prompt: words.join(' '),
    workspace: workspaceAt(workspace ?? '.', context.io.cwd),
    host,
    title,
  })
  const { session_id: id } = understood(SupervisionSchema.pick({ session_id: true }), answer)
  context.say(answer, `Started: session ${terminalLine(id, 64)}. What it asks appears in ${context.typed('watch')}.`)
}

/** Removes what has been kept long enough, now instead of within the hour. */
export async function purge(context: CtlContext, { dryRun }: { dryRun?: boolean }): Promise<void> {
  const answer = await context.server.post('/sessions/purge', dryRun === true ? { dry_run: true } : {})
  const { count, sessions } = understood(PurgedSchema, answer)
  const words = `${counted(count, 'session')} ${dryRun === true ? 'would be removed' : 'removed'}.`
  context.say(answer, [words, ...sessions.map((id) => `  ${terminalLine(id, 64)}`)].join('\n'))
}
