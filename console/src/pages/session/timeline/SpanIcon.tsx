import type { ComponentType } from 'react'
import { AgentIcon, AlertIcon, ModelIcon, RunIcon, ToolIcon, WaitIcon } from '../../../parts/icons.ts'
import styles from './SpanIcon.module.css'
import type { Span, SpanKind, SpanStatus } from './spans.ts'

export const spanKinds: Readonly<Record<SpanKind, { name: string; Icon: ComponentType }>> = {
  run: { name: 'Run', Icon: RunIcon },
  model: { name: 'Model call', Icon: ModelIcon },
  tool: { name: 'Tool call', Icon: ToolIcon },
  subagent: { name: 'Sub-agent', Icon: AgentIcon },
  wait: { name: 'Wait', Icon: WaitIcon },
  note: { name: 'Note', Icon: AlertIcon },
}

export const statusNames: Readonly<Record<SpanStatus, string>> = {
  working: 'Running',
  done: 'Done',
  failed: 'Failed',
  stopped: 'Stopped',
  waiting: 'Waiting',
}

export function SpanIcon({ span: { kind, status } }: { span: Span }) {
  const { name, Icon } = spanKinds[kind]
  return (
    <span className={styles.icon} data-status={status} title={`${name}: ${statusNames[status]}`}>
      <Icon />
      {status !== 'done' && <span className="unseen">{statusNames[status]} </span>}
    </span>
  )
}
