// What a step has sent to its model. No prompt is stored: it is built again from the log and the agent's version, by the same function that
// built it, and what cannot be known is said.

import { ServerError } from '../../domain/errors.ts'
import { isRecord } from '../../domain/is-record.ts'
import { typeOfEventText } from '../../domain/session/event.ts'
import type { StoredMessage } from '../../domain/session/message.ts'
import type { RunInput, RunRecord } from '../../domain/session/run.ts'
import type { SessionRecord } from '../../domain/session/session.ts'
import { type KeptSummary, SUMMARY, summaryIn } from '../../domain/session/summary.ts'
import { type ModelRequest, withAside } from '../../models/model.ts'
import type { Store } from '../../store/store.ts'
import { filePartsOf } from '../files/run-files.ts'
import type { MessageFiles } from '../files/show-files.ts'

import type { AgentVersion, AgentVersions } from '../loop/agent-version.ts'
import { buildRequest } from '../loop/build-request.ts'
import { broughtTools, modelTools } from '../loop/offered-tools.ts'
import { recentOf, type StepMark, stepInput } from '../loop/prepare-step.ts'
import { readForModel } from '../loop/read-for-model.ts'

export interface SentStep {
  step: string
  runId: string | null
  /** Null: it is not kept. */
  version: AgentVersion | null
  /** What is only true for the step is the last message. Null: it cannot be built again. */
  request: Pick<ModelRequest, 'system' | 'messages' | 'tools' | 'responseFormat'> | null
  /** What is not known, or may have been different: a sentence each. */
  unknown: string[]
}

/** `seq`: of the event with which the step began. Throws `record_not_found` if no step began there. */
export type ReadStep = (session: SessionRecord, seq: number) => Promise<SentStep>

interface ReadStepDeps {
  store: Pick<Store, 'entries' | 'messages' | 'runs' | 'files'>
  versions: Pick<AgentVersions, 'find'>
}

/** A branch that was left is read as a whole, so only of sessions of this size. */
const MOST_OF_BRANCH = 2_000
/** More than a sub-agent ever says. */
const MOST_OF_LANE = 10_000

export function createReadStep({ store, versions }: ReadStepDeps): ReadStep {
  /** The messages up to the one that was the last, as the session was then. Null: they are not there. */
  async function historyOf(
    session: SessionRecord,
    run: RunRecord,
    { after }: StepMark,
    version: AgentVersion,
  ): Promise<{ history: StoredMessage[]; isWhole: boolean; lane: string | null } | null> {
    if (after === undefined) return { history: [], isWhole: true, lane: null }
    const [last] = await store.messages.known(session.id, [after])
    if (last === undefined) return null
    const lane = last.lane ?? null
    const upToLast = (all: StoredMessage[]) => all.slice(0, all.findIndex(({ id }) => id === after) + 1)
    if (last.supersededBy !== undefined) {
      if (session.messageCount > MOST_OF_BRANCH) return null
      const all = (await store.messages.all(session.id)).filter((one) => (one.lane ?? null) === lane)
      // Ids of runs are in the order of time: what a later run has left was there.
      const then = all.filter(({ supersededBy }) => supersededBy === undefined || supersededBy > run.id)
      return { history: upToLast(then), isWhole: true, lane }
    }
    if (lane !== null) {
      return { history: upToLast(await store.messages.ofLane(session.id, lane, MOST_OF_LANE)), isWhole: true, lane }
    }
    const { history, isWhole } = await readForModel(version, async (limit, known) => {
      const newer = known.length === 0 ? [last] : known
      return [...(await store.messages.page(session.id, limit - newer.length, { before: newer[0]?.id })), ...newer]
    })
    return { history, isWhole, lane }
  }

  /** Null: there was none; undefined: it is not there any more. */
  async function summaryOf(session: SessionRecord, { summary }: StepMark): Promise<KeptSummary | null | undefined> {
    if (summary === undefined) return null
    const [message] = await store.messages.known(session.id, [summary])
    return message === undefined ? undefined : (summaryIn(message) ?? undefined)
  }

  return async (session, seq) => {
    const [entry] = await store.entries(session.id, seq - 1, 1, 1)
    if (entry?.seq !== seq || entry.kind !== 'event' || typeOfEventText(entry.data) !== 'STEP_STARTED') {
      throw new ServerError('record_not_found', `No step of this session begins at ${seq}.`, { details: { seq } })
    }
    const { stepName, metadata } = JSON.parse(entry.data)
    const mark: StepMark | null = isRecord(metadata?.quarterdeck) ? metadata.quarterdeck : null
    const step = { step: stepName, runId: entry.runId }
    const cannot = (why: string, version: AgentVersion | null) => ({ ...step, version, request: null, unknown: [why] })
    if (stepName === SUMMARY) return cannot('Here a summary of older messages was made, which the log has.', null)
    if (typeof mark?.version !== 'string') {
      return cannot('This step is older than the part of the server that keeps what is sent.', null)
    }
    const version = await versions.find(mark.version)
    if (version === null) return cannot('The instructions and tools that the agent had then are not kept here.', null)
    const run = entry.runId === null ? null : await store.runs.get(entry.runId)
    const found = run === null ? null : await historyOf(session, run, mark, version)
    if (run === null || found === null) return cannot('The messages of that time are not kept any more.', version)
    const summary = await summaryOf(session, mark)
    if (summary === undefined) return cannot('The summary that stood for older messages is not kept any more.', version)
    const { isWhole, lane } = found
    const history = recentOf(found.history, summary)
    const unknown: string[] = []
    if ((await store.files.ofSession(session.id)).length > 0) {
      unknown.push('Files are named here. Their text, or the picture, went to the model too.')
    }
    if ((mark.notes ?? 0) > 0) {
      unknown.push('The server added a note for this step alone: about a missing tool, or an answer that did not fit.')
    }
    const { request } = buildRequest({
      agent: version,
      history,
      hidesOlder: !isWhole || summary !== null,
      summary,
      files: namedFiles(history),
      input: stepInput(run, { lane, agent: version.name }, []),
      tools: toolsOf(version, run.input, lane),
      sessionId: session.id,
      correction: mark.correction ?? 1,
    })
    return { ...step, version, request: { ...request, messages: withAside(request) }, unknown }
  }
}

/** The agent's own and those that the caller brought, as they were sent. */
function toolsOf({ tools }: AgentVersion, input: RunInput, lane: string | null) {
  const own = new Set(tools.map(({ name }) => name))
  return modelTools([...tools, ...broughtTools(input, lane).filter(({ name }) => !own.has(name))])
}

const namedFiles = (history: readonly StoredMessage[]): ReadonlyMap<string, MessageFiles> =>
  new Map(
    history.flatMap((message) => {
      const names = filePartsOf(message).map(({ name }) => `[File: ${name}]`)
      return names.length === 0 ? [] : [[message.id, { text: names.join('\n'), attachments: [] }] as const]
    }),
  )
