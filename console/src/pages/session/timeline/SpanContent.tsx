import type { Step } from 'quarterdeck/client'
import { type ReactNode, useState } from 'react'
import { Link } from 'wouter'
import { usePlace } from '../../../data/place.ts'
import type { TranscriptItem } from '../../../data/transcript.ts'
import { messageIdOf } from '../../../data/use-branch.ts'
import { Warnings } from '../../../parts/approval/Notice.tsx'
import { Button } from '../../../parts/Button.tsx'
import { CutText } from '../../../parts/CutText.tsx'
import { markHidden } from '../../../parts/hidden-marks.ts'
import { ChatIcon, ModelIcon, SettingsIcon, ThinkIcon, ToolIcon } from '../../../parts/icons.ts'
import { Fact } from '../../../parts/Page.tsx'
import { Pending } from '../../../parts/States.tsx'
import { SeenText } from '../../../parts/seen/SeenText.tsx'
import { Fold } from '../../../parts/transcript/Fold.tsx'
import { useIsOpen } from '../../../parts/transcript/open-rows.ts'
import { argumentLine, prettyJson, withoutSecrets } from '../../../parts/transcript/pretty-json.ts'
import { TextPart } from '../../../parts/transcript/TextPart.tsx'
import { counted, fullCount, sentence } from '../../../words.ts'
import styles from './SpanDetails.module.css'
import type { Span } from './spans.ts'
import { useSent, useSpanItems } from './use-span.ts'

interface ContentProps {
  span: Span
  sessionId: string
}

/** What went into a model or a tool, and what came back. */
export function SpanContent({ span, sessionId }: ContentProps) {
  const query = useSpanItems(sessionId, span)
  const isOperator = usePlace().role === 'operator'
  if (span.kind !== 'model' && span.kind !== 'tool') return null
  if (query.data === undefined) return <Pending query={query} rows={2} height={64} />
  /** By which the transcript finds it. */
  const message = query.data.find((one) => one.type === 'tool' || (one.type === 'answer' && one.text !== ''))
  return (
    <>
      {message !== undefined && (
        <Link
          href={`/sessions/${encodeURIComponent(sessionId)}?message=${encodeURIComponent(messageIdOf(message.key))}`}
        >
          Show it in the transcript
        </Link>
      )}
      {query.data.map((item) => (
        <Said key={item.key} item={item} />
      ))}
      {query.data.length === 0 && <p className={styles.none}>Nothing came back.</p>}
      {span.kind === 'model' && isOperator && <Sent key={span.seq} span={span} sessionId={sessionId} />}
    </>
  )
}

function Said({ item }: { item: TranscriptItem }) {
  if (item.type === 'answer') return item.text === '' ? null : <Part title="Answer" text={item.text} />
  if (item.type === 'reasoning') return <Part title="Reasoning" text={item.text} />
  if (item.type !== 'tool') return null
  const { name, args, result, status } = item
  const isBad = status === 'failed'
  return (
    <>
      <Part title={`What ${name} was given`} text={prettyJson(withoutSecrets(args))} isCode />
      {result !== null && <Part title={isBad ? 'Error' : 'Result'} text={prettyJson(result)} isCode isBad={isBad} />}
    </>
  )
}

function Part({ isCode = false, ...props }: { title: string; text: string; isCode?: boolean; isBad?: boolean }) {
  return (
    <TextPart {...props}>
      <LongText text={props.text} label={props.title} isCode={isCode} />
    </TextPart>
  )
}

/** Beyond this, only the lines in sight are in the page. */
const LONG = 8_000

function LongText({ text, label, isCode = false }: { text: string; label: string; isCode?: boolean }) {
  return text.length > LONG ? (
    <SeenText text={markHidden(text)} label={label} />
  ) : (
    <CutText text={text} first={LONG} isCode={isCode} />
  )
}

/** Stays open from one line to the next. */
function Sent({ span, sessionId }: ContentProps) {
  const [isOpen, setOpen] = useIsOpen('sent')
  const query = useSent(sessionId, span, isOpen)
  return (
    <Fold isFramed icon={<ModelIcon />} title="What was sent" isOpen={isOpen} onToggle={setOpen}>
      {query.data === undefined ? (
        <Pending query={query} rows={3} height={40} />
      ) : (
        <SentStep step={query.data} seq={span.seq} />
      )}
    </Fold>
  )
}

function SentStep({ step: { parameters, sent, unknown }, seq }: { step: Step; seq: number }) {
  const names = sent?.tools.map(({ name }) => name).join(', ') ?? ''
  return (
    <>
      <Warnings texts={unknown} />
      <Parameters of={parameters} />
      {sent !== null && (
        <>
          <Piece id={`${seq}:system`} icon={<SettingsIcon />} title="System prompt" line={sent.system}>
            <LongText text={sent.system === '' ? 'None.' : sent.system} label="System prompt" />
          </Piece>
          <Newest items={sent.messages} what="earlier message">
            {(message, i) => <SentMessage key={i} id={`${seq}:${i}`} message={message} />}
          </Newest>
          {sent.tools.length > 0 && (
            <Piece id={`${seq}:tools`} icon={<ToolIcon />} title={counted(sent.tools.length, 'tool')} line={names}>
              <Newest items={sent.tools} what="tool">
                {({ name, description, parameters }) => (
                  <Piece key={name} id={`${seq}:tool:${name}`} icon={<ToolIcon />} title={name} line={description}>
                    <LongText text={description} label="Description" />
                    <LongText text={JSON.stringify(parameters, null, 2)} label="Arguments" isCode />
                  </Piece>
                )}
              </Newest>
            </Piece>
          )}
          {sent.response_format !== null && (
            <Piece id={`${seq}:format`} icon={<ToolIcon />} title="Form of the answer" line="">
              <LongText text={JSON.stringify(sent.response_format, null, 2)} label="Form of the answer" isCode />
            </Piece>
          )}
        </>
      )}
    </>
  )
}

interface PieceProps {
  id: string
  icon: ReactNode
  title: string
  line: string
  children: ReactNode
}

function Piece({ id, icon, title, line, children }: PieceProps) {
  const [isOpen, setOpen] = useIsOpen(`sent:${id}`)
  return (
    <Fold icon={icon} title={title} line={argumentLine(line)} isOpen={isOpen} onToggle={setOpen}>
      {children}
    </Fold>
  )
}

type SentMessages = NonNullable<Step['sent']>['messages']

/** At first, and with each press. A request may have hundreds. */
const AT_ONCE = 20

/** The last ones, and the others by a press. */
function Newest<T>(props: { items: readonly T[]; what: string; children: (item: T, index: number) => ReactNode }) {
  const { items, what, children } = props
  const [shown, setShown] = useState(AT_ONCE)
  const from = Math.max(0, items.length - shown)
  return (
    <>
      {from > 0 && (
        <Button onClick={() => setShown(shown + AT_ONCE)}>
          Show {Math.min(AT_ONCE, from)} of {counted(from, what)} more
        </Button>
      )}
      {items.slice(from).map((item, i) => children(item, from + i))}
    </>
  )
}

const senders = { user: ['User', ChatIcon], assistant: ['Agent', ThinkIcon], tool: ['Tool', ToolIcon] } as const

function SentMessage({ id, message }: { id: string; message: SentMessages[number] }) {
  const { role, content, reasoning, tool_calls, tool_name, is_error } = message
  const [who, Icon] = senders[role]
  const title = role === 'tool' ? `${is_error ? 'Error' : 'Result'} of ${tool_name}` : who
  const calls = tool_calls.map(({ name }) => name).join(', ')
  return (
    <Piece id={id} icon={<Icon />} title={title} line={content === '' ? `calls ${calls}` : content}>
      {reasoning !== null && reasoning !== '' && <Part title="Reasoning" text={reasoning} />}
      {content !== '' && <LongText text={prettyJson(content)} label={title} isCode={role === 'tool'} />}
      {tool_calls.map((call) => (
        <Part key={call.id} title={`What ${call.name} was given`} text={prettyJson(call.arguments)} isCode />
      ))}
    </Piece>
  )
}

const parameterNames: Readonly<Record<string, string>> = {
  max_tokens: 'Longest answer',
  context_window: 'Room for',
  top_p: 'Top p',
}

function Parameters({ of }: { of: Step['parameters'] }) {
  return (
    <dl className={styles.facts}>
      {Object.entries(of).map(([name, value]) => (
        <Fact key={name} name={parameterNames[name] ?? sentence(name.replaceAll('_', ' '))}>
          {typeof value === 'number' ? fullCount(value) : value}
          {(name === 'max_tokens' || name === 'context_window') && ' tokens'}
        </Fact>
      ))}
    </dl>
  )
}
