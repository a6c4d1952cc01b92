import type { ComponentType } from 'react'
import { AgentIcon, AlertIcon, ModelIcon, RunIcon, ToolIcon, WaitIcon } from '../../../parts/icons.ts'
import styles from './SpanIcon.module.css'
import type { Span, SpanKind, SpanStatus } from './spans.ts'

const icons: Readonly<Record<SpanKind, ComponentType>> = {
  run: RunIcon,
  model: ModelIcon,
  tool: ToolIcon,
  subagent: AgentIcon,
  wait: WaitIcon,
  note: AlertIcon,
}

export const kindNames: Readonly<Record<SpanKind, string>> = {
  run: 'Run',
  model: 'Model call',
  tool: 'Tool call',
  subagent: 'Sub-agent',
  wait: 'Wait',
  note: 'Note',
}

export const statusNames: Readonly<Record<SpanStatus, string>> = {
  working: 'Running',
  done: 'Done',
  failed: 'Failed',
  stopped: 'Stopped',
  waiting: 'Waiting',
}

export function SpanIcon({ span: { kind, status } }: { span: Span }) {
  const Icon = icons[kind]
  return (
    <span className={styles.icon} data-status={status} title={`${kindNames[kind]}: ${statusNames[status]}`}>
      <Icon />
      {status !== 'done' && <span className="unseen">{statusNames[status]} </span>}
    </span>
  )
}
