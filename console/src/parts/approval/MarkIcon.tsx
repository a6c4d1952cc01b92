import type { RecordView } from 'quarterdeck/client'
import {
  AlertIcon,
  ApprovalIcon,
  ChangeIcon,
  PolicyIcon,
  PromptIcon,
  QuestionIcon,
  ToolIcon,
  WaitIcon,
  WarningIcon,
} from '../icons.ts'

const icons: Readonly<Record<RecordView['mark'], typeof ToolIcon>> = {
  call: ToolIcon,
  question: QuestionIcon,
  change: ChangeIcon,
  tool: ApprovalIcon,
  policy: PolicyIcon,
  prompt: PromptIcon,
  error: WarningIcon,
  standby: WaitIcon,
  silence: AlertIcon,
  alarm: AlertIcon,
}

/** The picture of a record. Its label stands beside it. */
export function MarkIcon({ mark }: Pick<RecordView, 'mark'>) {
  const Icon = icons[mark]
  return <Icon aria-hidden="true" />
}
