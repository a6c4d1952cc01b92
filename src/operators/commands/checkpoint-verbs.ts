// Commands for checkpoints. A restore takes two commands: the first shows what would change, the second names the digest of that.

import { ServerError } from '../../domain/errors.ts'
import type { Checkpoint } from '../../domain/supervision/supervision.ts'
import { shortIds } from '../../domain/text/id-prefix.ts'
import { visibleText } from '../../domain/text/visible-text.ts'
import type { RestorePlan } from '../../supervision/checkpoints/restore-plan.ts'
import { ago } from '../../supervision/records/record-words.ts'
import { checkText } from '../../supervision/sessions/check-text.ts'
import {
  type Answer,
  type AnswerPart,
  code,
  count,
  facts,
  file,
  heading,
  lines,
  oneLine,
  says,
  size,
  text,
} from './answer.ts'
import { type ChannelSessions, channelSessions, named, noteLook, takeSession, takeText } from './channel-sessions.ts'
import type { Asked, CommandServices } from './command-services.ts'

const MOST_LABEL_CHARS = 200
const MOST_CHECKPOINTS = 1_000
const MOST_SHOWN = 20
/** Of each list of a plan, in a message. */
const MOST_NAMES = 10
const MOST_NAME_CHARS = 200

export async function saveCheckpoint(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const { session, text: label } = takeText(here, asked)
  if (label !== '') checkText(label, 'label', MOST_LABEL_CHARS)
  const wanted = { label: label === '' ? null : label, contents: true }
  const { id, files, bytes } = await services.checkpoints.save(asked.by, session.id, wanted)
  const { shortId } = await checkpointsHere(services, asked, here)
  return says(
    `Checkpoint ${shortId(id)} keeps ${count(files, 'file')}, ${size(bytes)}. To go back to it: session-restore ${shortId(id)}`,
  )
}

export async function listCheckpoints(services: CommandServices, asked: Asked): Promise<Answer> {
  const here = await channelSessions(services, asked.context)
  const { words, options } = asked.command
  const isOfOne = words.length > 0 || options.has('session') || asked.context.sessionOfThread != null
  const only = isOfOne ? takeSession(here, asked, { most: 0 }).session : null
  const { all, shortId } = await checkpointsHere(services, asked, here)
  const found = only === null ? all : all.filter(({ sessionId }) => sessionId === only.id)
  if (found.length === 0) return says('There are no checkpoints. To keep one: session-checkpoint [LABEL]')
  await noteLook(services, asked.by, found)
  const now = services.clock.now()
  const line = (one: Checkpoint): string =>
    facts(
      shortId(one.id),
      one.label && oneLine(one.label, 80),
      ago(now - one.createdAt),
      `${count(one.files, 'file')}, ${size(one.bytes)}`,
      one.hasContents ? null : 'hashes only, cannot be restored',
      `session ${here.shortId({ id: one.sessionId })}`,
    )
  const more = found.length - MOST_SHOWN
  return {
    parts: [
      heading(count(found.length, 'checkpoint')),
      lines(found.slice(0, MOST_SHOWN).map(line)),
      ...(more > 0 ? [text(`${more} older ones are not shown.`)] : []),
    ],
  }
}

export async function restoreCheckpoint(services: CommandServices, asked: Asked): Promise<Answer> {
  const { words, options } = asked.command
  const [given, ...others] = words
  if (given === undefined || others.length > 0) {
    throw new ServerError('invalid_request', 'Name one checkpoint by its id. session-checkpoints lists them.')
  }
  const here = await channelSessions(services, asked.context)
  const known = await checkpointsHere(services, asked, here)
  const now = services.clock.now()
  const checkpoint = named('checkpoint', known.all, given, ({ id, label, createdAt }) =>
    facts(known.shortId(id), label && oneLine(label, 80), ago(now - createdAt)),
  )
  const confirm = options.get('confirm') ?? null
  const restored = await services.checkpoints.restore(asked.by, checkpoint.id, confirm)
  if (restored.status === 'changed') return planAnswer(checkpoint, restored.plan, { known, isAgain: confirm !== null })
  const { written, removed, not_restored } = restored.result
  const after = await channelSessions(services, asked.context)
  const { shortId } = await checkpointsHere(services, asked, after)
  const left = not_restored.map(({ path, reason }) => `${visibleText(path)}: ${visibleText(reason)}`)
  return {
    parts: [
      text(
        `Restored checkpoint ${known.shortId(checkpoint.id)}: ${count(written, 'file')} written, ${removed} removed.`,
      ),
      ...(left.length === 0 ? [] : [text('These stay as they were:'), lines(left.slice(0, MOST_NAMES))]),
      ...(left.length > MOST_NAMES ? [text(`… ${left.length - MOST_NAMES} more`)] : []),
      text(
        `The old session has ended, and session ${after.shortId(restored.session)} goes on from here. To undo this: session-restore ${shortId(restored.undo.id)}`,
      ),
    ],
  }
}

async function checkpointsHere(services: CommandServices, { by }: Asked, here: ChannelSessions) {
  const ids = new Set(here.all.map(({ id }) => id))
  const found = await services.checkpoints.list({ by, limit: MOST_CHECKPOINTS })
  /** Newest first. */
  const all = found.filter(({ sessionId }) => ids.has(sessionId))
  const short = shortIds(all.map(({ id }) => id))
  return { all, shortId: (id: string): string => short.get(id) ?? id }
}

type KnownCheckpoints = Awaited<ReturnType<typeof checkpointsHere>>

/** In the order in which a person should look. */
const LISTS = [
  ['protected', '!', 'protected: they can change what programs do here'],
  ['lost_for_good', '!', 'too large to be kept, so this cannot be undone for them'],
  ['modified', 'M', 'changed: they get their old contents back'],
  ['added', '-', 'new: they are removed'],
  ['deleted', '+', 'deleted: they come back'],
  ['cannot_restore', '=', 'not kept by the checkpoint: they stay as they are'],
  ['unknown', '=', 'not readable: they stay as they are'],
] as const

function planAnswer(
  { id, label }: Checkpoint,
  plan: RestorePlan,
  { known, isAgain }: { known: KnownCheckpoints; isAgain: boolean },
): Answer {
  const shownName = facts(known.shortId(id), label && oneLine(label, 80))
  const shown = LISTS.filter(([list]) => plan.counts[list] > 0)
  const parts: AnswerPart[] = [
    ...(isAgain ? [text('The files have changed since you looked. Nothing is restored. Look again:')] : []),
    heading(`Restore checkpoint ${shownName}?`),
    ...shown.flatMap(([list, mark, words]) => [
      text(`${plan.counts[list]} ${words}`),
      code(namesOf(plan, list, mark, MOST_NAMES)),
    ]),
    text(
      shown.length === 0
        ? 'The files are as they were then. The session would end, and a new one go on from here.'
        : 'The session ends, and a new one goes on from here. What goes away is kept in a checkpoint of its own.',
    ),
  ]
  const isCut = shown.some(
    ([list]) => plan.counts[list] > MOST_NAMES || plan[list].some((path) => path.length > MOST_NAME_CHARS),
  )
  const content = shown.map(([list, mark, words]) => `${plan.counts[list]} ${words}\n${namesOf(plan, list, mark)}\n`)
  return {
    parts,
    ...(isCut ? { file: file('restore-plan.txt', content.join('\n')) } : {}),
    confirm: { label: 'Restore', command: `session-restore ${id} --confirm ${plan.digest}` },
  }
}

/** The plan itself names at most 1,000 of each list. */
function namesOf(plan: RestorePlan, list: (typeof LISTS)[number][0], mark: string, most?: number): string {
  const nameOf = (path: string): string => (most === undefined ? visibleText(path) : oneLine(path, MOST_NAME_CHARS))
  const names = plan[list].slice(0, most).map((path) => `${mark} ${nameOf(path)}`)
  const more = plan.counts[list] - names.length
  return [...names, ...(more > 0 ? [`… ${more} more`] : [])].join('\n')
}
