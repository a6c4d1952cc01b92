import type { ArchivedSession } from '../commands/sessions/session-archive.ts'

/** As `sessions export` writes a session. */
export const archiveLine = (session: ArchivedSession): string => JSON.stringify(session)

const DAY = 86_400_000
/** The newest sample was used on this day. */
export const SAMPLE_NOW = Date.UTC(2026, 10, 15)

/**
 * A finished conversation, the `n`-th newest: used `n` days before `SAMPLE_NOW`. Its first answer is superseded by the
 * second, and its last run calls a tool in a message without text, after somebody said yes to that. A sub-agent spoke too.
 */
export function sampleSession(n: number, owner = 'local_user'): ArchivedSession {
  const hex = n.toString(16).padStart(4, '0')
  const id = `0199a000-0000-7000-8000-00000000${hex}`
  const firstRun = `0199a000-0000-7000-8001-00000000${hex}`
  const secondRun = `0199a000-0000-7000-8002-00000000${hex}`
  const at = SAMPLE_NOW - n * DAY
  const run = (
    runId: string,
    seqs: [number, number],
    messages: ArchivedSession['runs'][number]['input']['messages'],
  ) => ({
    id: runId,
    sessionId: id,
    owner,
    agent: 'assistant',
    wireId: runId,
    parentRunId: null,
    status: 'completed' as const,
    origin: 'reader' as const,
    input: { messages, instructions: [], context: [], clientTools: [] },
    createdAt: at,
    startedAt: at,
    finishedAt: at,
    usage: [{ provider: 'demo', model: 'demo', inputTokens: 3, outputTokens: 4, totalTokens: 7 }],
    error: null,
    cancelRequested: false,
    firstSeq: seqs[0],
    lastSeq: seqs[1],
    fence: 1,
    leaseOwner: null,
  })
  const event = (seq: number, runId: string, data: Record<string, unknown>) => ({
    seq,
    runId,
    kind: 'event' as const,
    data: JSON.stringify(data),
  })
  const wait = (number: number) => ({
    id: `0199a000-0000-7000-800${number}-00000000${hex}`,
    status: 'pending' as const,
    sessionId: id,
    owner,
    runId: firstRun,
    continuationRunId: secondRun,
    createdAt: at,
    expiresAt: at + DAY,
    agent: 'assistant',
  })
  return {
    session: {
      id,
      owner,
      agent: 'assistant',
      activeAgent: 'tutor',
      status: 'active',
      createdAt: at,
      lastActivity: at,
      terminatedAt: null,
      lastTool: 'add',
      metadata: { note: 'ü' },
      alias: `talk-${n}`,
      messageCount: 3,
      state: { step: 2 },
      unlisted: false,
    },
    runs: [run(firstRun, [1, 3], [{ id: 'u1', role: 'user', content: 'Hi' }]), run(secondRun, [4, 7], [])],
    messages: [
      { id: 'u1', role: 'user', content: 'Hi', runId: firstRun, createdAt: at },
      {
        id: 'a1',
        role: 'assistant',
        content: 'Hello',
        runId: firstRun,
        createdAt: at,
        agentName: 'assistant',
        supersededBy: secondRun,
      },
      {
        id: 'a2',
        role: 'assistant',
        content: '',
        runId: secondRun,
        createdAt: at,
        toolCalls: [{ id: 't1', type: 'function', function: { name: 'add', arguments: '{}' } }],
      },
      { id: 'p1', role: 'assistant', content: 'Three?', runId: secondRun, createdAt: at, lane: 't1' },
      { id: 'r1', role: 'tool', content: '3', runId: secondRun, createdAt: at, toolCallId: 't1' },
    ],
    entries: [
      event(1, firstRun, { type: 'RUN_STARTED', threadId: `talk-${n}`, runId: firstRun }),
      {
        ...event(2, firstRun, { type: 'TEXT_MESSAGE_CONTENT', messageId: 'a1', delta: 'Hello' }),
        spans: [[2, 5]] as const,
      },
      event(3, firstRun, { type: 'RUN_FINISHED', threadId: `talk-${n}`, runId: firstRun }),
      event(4, secondRun, { type: 'RUN_STARTED', threadId: `talk-${n}`, runId: secondRun }),
      event(5, secondRun, { type: 'TOOL_CALL_START', toolCallId: 't1', toolCallName: 'add', parentMessageId: 'a2' }),
      event(6, secondRun, { type: 'TOOL_CALL_RESULT', toolCallId: 't1', messageId: 'r1', content: '3' }),
      event(7, secondRun, { type: 'RUN_FINISHED', threadId: `talk-${n}`, runId: secondRun }),
    ],
    waits: [
      {
        wait: 'approval',
        ...wait(3),
        status: 'consumed',
        callId: 't1',
        tool: 'add',
        arguments: '{}',
        lane: null,
        kind: 'tool_call',
        title: 'Add',
        description: '',
        action: 'adds the numbers',
        risk: 'high',
        digest: 'd1',
        policyVersion: 'p1',
        answerableBy: 'owner',
        beforeHash: null,
        afterHash: null,
        messageRefs: { slack: 'C1/2' },
        decidedAt: at,
        decidedBy: owner,
        decidedVia: 'http',
        reason: null,
        editedArguments: null,
        consumedAt: at,
      },
      {
        wait: 'client_call',
        ...wait(4),
        status: 'answered',
        callId: 't2',
        tool: 'beep',
        arguments: '{}',
        lane: 't1',
        onExpiry: 'continue',
        answeredAt: at,
      },
    ],
  }
}
