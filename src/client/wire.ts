// What requests and answers look like: the types of the server's own schemas. Only types are taken, so the client has no zod. The
// published declaration of this file is made by scripts/plain-types.ts, which needs exactly this form of lines.

export type {
  GrantCondition,
  LookedAt,
  Remembered,
} from '../protocols/manage/approvals/decision-schema.ts'
export type {
  Approval,
  Change,
  EditCheck,
  Grant,
  ShownApproval,
  ShownArgument,
  ShownCall,
} from '../protocols/manage/approvals/schema.ts'
export type { FeedItem } from '../protocols/manage/events/schema.ts'
export type { Inbox, InboxItem } from '../protocols/manage/inbox/schema.ts'
export type { View as RecordView } from '../protocols/manage/records/schema.ts'
export type {
  Checkpoint,
  CheckpointChanges,
  CheckpointFileDiff,
  CommandResult,
  Restored,
  ShownCheckpoint,
} from '../protocols/manage/supervision/checkpoint-schema.ts'
export type { PromptAnswer, Spawn } from '../protocols/manage/supervision/command-schema.ts'
export type { Alert, Instruction, Modes, Prompt, Standby } from '../protocols/manage/supervision/schema.ts'
export type { ProgressItem, Supervision } from '../protocols/shared/supervised/schema.ts'
