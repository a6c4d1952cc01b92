import type { Alert, Approval, PersonRecord, Prompt, Standby } from '../../../../domain/records/record.ts'
import { callDigest } from '../../../../json/digest.ts'
import { describe } from '../../../../supervision/records/describe-record.ts'
import type { RecordView } from '../../../../supervision/records/record-view.ts'
import { approval } from '../../../../supervision/testing/approval.ts'
import type { CardLook, CardSession } from '../card.ts'

/** 2026-11-16, 10:00 UTC. */
export const TEN = Date.UTC(2026, 10, 16, 10)

export const session: CardSession = {
  id: 'session-1',
  agent: 'claude-code',
  folder: 'shop',
  title: null,
  isWorkspace: false,
  owner: 'ada',
  status: 'active',
  prompt: null,
  progress: null,
}

export const look: CardLook = {
  detail: 'standard',
  link: 'http://127.0.0.1:8000/console/inbox/r1',
  mention: 'U012AB3CD',
  state: { type: 'open' },
  buttonValue: (action) => `r1.${action}.mac`,
}

const asked = { id: 'record-1', owner: 'ada', agent: 'claude-code', createdAt: TEN, expiresAt: TEN + 3_600_000 }

export const toolCall: Approval = {
  ...approval,
  ...asked,
  agent: 'helper',
  title: 'send_email: mail to bob',
  action: 'mail to bob',
  description: 'to: bob@example.com',
  arguments: '{"to":"bob@example.com"}',
  digest: 'd1d2d3d4d5d6',
}

export const question: Approval = {
  ...toolCall,
  kind: 'question',
  title: 'send_email asks a question',
  description: 'Which account?\nAnswer with these fields:\n  account (required): one of "work", "home"',
  question: {
    message: 'Which account?',
    schema: {
      type: 'object',
      properties: { account: { type: 'string', enum: ['work', 'home'] } },
      required: ['account'],
    },
    index: 0,
    effect: 'once',
  },
}

const elsewhere = { host: 'claude-code', contentKey: 'k', returnedAt: null }

export const diffApproval: Approval = {
  ...approval,
  ...asked,
  kind: 'diff',
  tool: 'ask_approval',
  title: 'Fix the sum',
  description: 'It was off by one.',
  digest: 'a1a2a3a4a5a6',
  beforeHash: 'b'.repeat(64),
  afterHash: 'c'.repeat(64),
  supervised: {
    ...elsewhere,
    change: {
      path: 'src/sum.ts',
      kind: 'modify',
      addedLines: 1,
      removedLines: 1,
      warnings: [],
      protectedBecause: null,
      hasHiddenText: false,
    },
    mayForce: false,
    isEdited: false,
    appliedAt: null,
  },
}

export const SMALL_DIFF = '--- src/sum.ts\n+++ src/sum.ts\n@@ -1,2 +1,2 @@\n const a = 1\n-const b = 1\n+const b = 2\n'

const bash = { ...approval, ...asked, tool: 'Bash' }

export const permission: Approval = {
  ...bash,
  kind: 'permission',
  digest: callDigest({ ...bash, arguments: { command: 'npm test' } }),
  title: 'Run npm test',
  description: 'Tool: Bash\nnpm test',
  arguments: '{"command":"npm test"}',
  supervised: { ...elsewhere, change: null, mayForce: false, isEdited: false, appliedAt: null },
}

export const policy: Approval = {
  ...permission,
  kind: 'policy',
  tool: 'policy',
  risk: 'critical',
  title: 'Accept the policy .quarterdeck/policy.json',
  description: 'It says what agents in /shop may do without asking.',
}

const record = {
  ...asked,
  sessionId: 's1',
  runId: 'r',
  callId: 'c',
  arguments: '{}',
  lane: null,
  continuationRunId: null,
  messageRefs: {},
  decidedAt: null,
  decidedBy: null,
  decidedVia: null,
  reason: null,
}

export const prompt: Prompt = {
  ...record,
  wait: 'prompt',
  tool: 'forward_prompt',
  status: 'pending',
  supervised: elsewhere,
  promptText: 'Shall I go on with the tests?',
  promptType: 'continuation',
  elapsedSeconds: 125,
  actionsTaken: 7,
  decision: null,
  instruction: null,
}

export const standby: Standby = {
  ...record,
  wait: 'standby',
  tool: 'wait_for_instruction',
  status: 'pending',
  supervised: elsewhere,
  message: 'Done. What next?',
  timeoutSeconds: 0,
  expiresAt: null,
  instruction: null,
}

export const alert: Alert = {
  ...record,
  wait: 'alert',
  tool: '',
  status: 'pending',
  supervised: { host: 'claude-code' },
  lastTool: 'Edit',
  lastActivityAt: TEN - 303_000,
  idleSeconds: 303,
  nudgeCount: 0,
  nudgeMessage: null,
  lastNudgeAt: null,
  nudgedBy: null,
  expiresAt: null,
  progressSnapshot: [
    { label: 'Read the code', status: 'done' },
    { label: 'Write tests', status: 'in_progress' },
  ],
}

export const about = (wait: PersonRecord, diff: string | null = null, scene: Partial<CardSession> = {}): RecordView =>
  describe(wait, { ...session, folder: wait.supervised === undefined ? null : session.folder, ...scene, diff })
