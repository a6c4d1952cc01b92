// What requests and answers look like: the types of the server's own schemas. Only types are taken, so the client has no zod. The
// published declaration of this file is made by scripts/plain-types.ts, which needs exactly this form of lines.

export type { Health } from '../http/health/schema.ts'
export type { ChatAnswer, StreamEventData, TokensUsed } from '../protocols/agent/schema.ts'
export type { Session, SessionMessages } from '../protocols/chat/schema.ts'
export type {
  Agent,
  AgentTests,
  AgentTool,
  TestCase,
  TestSummary,
  ValidatedAgent,
} from '../protocols/manage/agents/schema.ts'
export type {
  EditCheck,
  FileLines,
  Grant,
  GrantCondition,
  GroupDecided,
  LookedAt,
  Remembered,
  ShownApproval,
  ShownArgument,
  ShownCall,
} from '../protocols/manage/approvals/schema.ts'
export type { AuditChain, AuditEntry } from '../protocols/manage/audit/schema.ts'
export type { Channel, Replayed } from '../protocols/manage/channels/schema.ts'
export type {
  Code,
  Device,
  Me,
  Passkey,
  PasskeyChallenge,
  PasskeyList,
  ProofPurpose,
  SignedIn,
  Who,
} from '../protocols/manage/devices/schema.ts'
export type { FeedItem, FeedTaken } from '../protocols/manage/events/schema.ts'
export type { UploadedFile } from '../protocols/manage/files/schema.ts'
export type { Inbox, InboxItem, Taken } from '../protocols/manage/inbox/schema.ts'
export type { KnowledgeFound, KnowledgeIndex, KnowledgeQuery, Passage } from '../protocols/manage/knowledge/schema.ts'
export type { Memory } from '../protocols/manage/memories/schema.ts'
export type {
  AcceptedPolicy,
  AcceptPolicy,
  DraftPolicy,
  PolicyDraft,
  PolicyVerdict,
  TriedPolicy,
} from '../protocols/manage/policy/schema.ts'
export type { NewPushSubscription, PushKey, PushSubscription } from '../protocols/manage/push/schema.ts'
export type { Alert } from '../protocols/manage/records/kinds/alert.ts'
export type { Approval, Change } from '../protocols/manage/records/kinds/approval.ts'
export type { Prompt } from '../protocols/manage/records/kinds/prompt.ts'
export type { Standby } from '../protocols/manage/records/kinds/standby.ts'
export type { RecordView } from '../protocols/manage/records/schema.ts'
export type { NewSchedule, Schedule, ScheduleTime } from '../protocols/manage/schedules/schema.ts'
export type { Search, SearchResult } from '../protocols/manage/search/schema.ts'
export type {
  AnsweredRun,
  AppAnswer,
  AppRequest,
  GivenFeedback,
  MessageFeedback,
  Run,
  SentMessage,
  SessionExport,
  SessionTitle,
  Step,
} from '../protocols/manage/sessions/schema.ts'
export type { McpSignIn, McpSignInLink } from '../protocols/manage/sign-ins/schema.ts'
export type { Stats } from '../protocols/manage/stats/schema.ts'
export type {
  Checkpoint,
  CheckpointChanges,
  CheckpointFileDiff,
  CommandResult,
  Restored,
  ShownCheckpoint,
} from '../protocols/manage/supervision/checkpoint-schema.ts'
export type { Instruction, Modes, PromptAnswer, Spawn, Startable } from '../protocols/manage/supervision/schema.ts'
export type { CreatedToken, NewToken, Token } from '../protocols/manage/tokens/schema.ts'
export type { MyLimits, TokenPrice, Usage, UsageCounts } from '../protocols/manage/usage/schema.ts'
export type { ErasedUser } from '../protocols/manage/users/schema.ts'
export type { HostChoice, HostState, ProgressItem, Supervision } from '../protocols/shared/supervised/schema.ts'
