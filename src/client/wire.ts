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
