// What could be seen from outside in one trial. The checkers judge this and the store that is left, nothing else.

import type { Entry } from '../../src/domain/session/entry.ts'
import type { RunStatus } from '../../src/domain/session/run.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { AgentCallRecord } from './elsewhere/agents.ts'
import type { OperatorAct } from './elsewhere/operators.ts'

export interface History {
  sends: Send[]
  readers: ReaderRecord[]
  cancels: CancelRecord[]
  /** Statuses that a client was told. */
  statuses: { runId: string; status: RunStatus; at: number }[]
  toolStarts: ToolStart[]
  decisions: DecisionAttempt[]
  clientAnswers: ClientAnswer[]
  /** What agents elsewhere called, and what their operators did. */
  elsewhere: { calls: AgentCallRecord[]; acts: OperatorAct[] }
  /** The user texts that a model was shown. */
  modelSaw: Set<string>
  modelCalls: number
  /** When the end of a run could first be shown. */
  ends: Map<string, number>
  diskFull: { from: number; to: number }[]
  /** Sessions that were compacted at some time. */
  compacted: Set<string>
  lives: Life[]
  powerCuts: PowerCut[]
  /** Sessions whose deletion was asked for. */
  deletions: string[]
  /** When the server had whom reading what; `runId` null: all of the session. */
  streams: { label: string; sessionId: string; runId: string | null; from: number; to: number }[]
  /** Times in which a replica or the database was in trouble, and those who wait for it had to wait. */
  troubles: { from: number; to: number }[]
  /** When which life did what is done once an hour. */
  hourly: { life: number; at: number }[]
  /** What was found while the trial ran, rather than at its end. */
  findings: Finding[]
}

export interface Finding {
  checker: string
  message: string
}

/** One message of one client, however often it was sent. */
export interface Send {
  client: string
  /** Counts the messages of this client; each is sent after the one before was answered. */
  number: number
  owner: string
  thread: string
  messageId: string
  text: string
  key: string | null
  wireRunId: string | null
  acks: { at: number; runId: string; sessionId: string; existing: boolean }[]
  /** The codes that it was refused with. */
  refusals: string[]
}

export interface ReaderRecord {
  name: string
  sessionId: string
  /** Null: reads the whole session. */
  runId: string | null
  /** What it took for the log; a new one begins when it was told that its place is gone. */
  views: View[]
  /** Null: it was still reading when the trial ended. */
  end: 'saw the end' | 'gave up' | null
}

export interface View {
  /** In the order of arrival, without what it dropped to come back with an older id. */
  entries: SeenEntry[]
  /** Everything that was ever shown here, dropped or not. */
  shown: SeenEntry[]
  /** Each coming back: with which id, and what the server made of it. */
  resumes: { after: number; at: number; answer: 'served' | 'gone' | null }[]
}

export interface SeenEntry extends Entry {
  /** When the connection was opened over which it came. The server may have read it at any time since then. */
  readSince: number
}

export interface CancelRecord {
  runId: string
  sessionId: string
  at: number
  /** The process that answered. */
  life: number
  /** What the run was when the answer was given. */
  status: RunStatus
}

/** One answer of one person to one approval, whatever became of it. */
export interface DecisionAttempt {
  approvalId: string
  sessionId: string
  /** Another name at every attempt, so that the winner can be told. */
  by: string
  decision: 'approve' | 'reject'
  /** Arguments that it gave, as JSON. */
  edited: string | null
  remember: boolean
  /** Null: no answer came, so it may have counted. */
  won: boolean | null
  /** The run that it was told of. */
  runId: string | null
}

/** One result of a client tool that was sent, whatever became of it. */
export interface ClientAnswer {
  callId: string
  sessionId: string
  content: string
  won: boolean | null
}

export interface ToolStart {
  tool: string
  effect: Tool['effect']
  callId: string
  arguments: string
  sessionId: string
  runId: string
  at: number
  life: number
}

export interface Life {
  number: number
  from: number
  /** When it began to serve. */
  readyAt: number | null
  to: number | null
  /** It was told to stop: what is under way when it is killed then does not count as what killed it. */
  isDraining: boolean
  end: 'killed' | 'power cut' | 'sync failed' | 'restarted' | 'start failed' | null
}

export interface PowerCut {
  at: number
  /** By session, the seqs that were in the log before and not after. */
  lost: Map<string, Set<number>>
}

export const createHistory = (): History => ({
  sends: [],
  readers: [],
  cancels: [],
  statuses: [],
  toolStarts: [],
  decisions: [],
  clientAnswers: [],
  elsewhere: { calls: [], acts: [] },
  modelSaw: new Set(),
  modelCalls: 0,
  ends: new Map(),
  diskFull: [],
  compacted: new Set(),
  lives: [],
  powerCuts: [],
  deletions: [],
  streams: [],
  troubles: [],
  hourly: [],
  findings: [],
})
