import type { HostState } from 'quarterdeck/client'
import {
  type ClipboardEvent,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  type Ref,
  Suspense,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import type { SentFile, Words } from '../../data/outbox.ts'
import { announce } from '../../parts/Announcer.tsx'
import { IconButton } from '../../parts/Button.tsx'
import { focusEnd, leaveField } from '../../parts/Field.tsx'
import { AttachIcon, CloseIcon, SendIcon, StopIcon } from '../../parts/icons.ts'
import { lazyPart, Nothing } from '../../parts/lazy-part.tsx'
import { Loading } from '../../parts/States.tsx'
import styles from './Composer.module.css'
import { type Draft, readDraft, writeDraft } from './draft.ts'
import { useAttachments } from './use-attachments.ts'

const AttachmentList = lazyPart(() => import('./AttachmentList.tsx'))
const CommandList = lazyPart(() => import('./CommandList.tsx'), Nothing)

type Command = HostState['commands'][number]
const NO_COMMANDS: readonly Command[] = []

export interface ComposerHandle {
  attach(files: readonly File[]): void
  /** Takes the focus if nothing else has it. */
  focusIfFree(): void
  /** Puts back what could not be sent, before what has been written since. */
  restore(draft: Draft): void
}

interface ComposerProps {
  /** Null: the chat begins with this message. */
  sessionId: string | null
  /** A message that is edited: what it says. */
  initial?: Draft | null
  placeholder: string
  onSend: (words: Omit<Words, 'agent'>) => void
  /** A run is at work, and this stops it. */
  onStop?: (() => void) | undefined
  /** Something else on the page is more important now. */
  isQuiet?: boolean
  /** What a text that begins with `/` may be. */
  commands?: readonly Command[] | undefined
  /** Beside the button for files. */
  options?: ReactNode
  ref?: Ref<ComposerHandle>
}

/** As the server has it. */
const LONGEST = 10_000
const TALLEST_PX = 320

/** The field for the next message. Enter sends it, Shift and Enter begin a new line. */
export function Composer({
  sessionId,
  initial = null,
  placeholder,
  onSend,
  onStop,
  isQuiet = false,
  commands = NO_COMMANDS,
  options,
  ref,
}: ComposerProps) {
  const [draft] = useState(() => {
    const kept = readDraft(sessionId)
    return kept.text === '' && initial !== null ? initial : kept
  })
  const [text, setText] = useState(draft.text)
  const attachments = useAttachments(draft.files)
  const field = useRef<HTMLTextAreaElement>(null)
  const picker = useRef<HTMLInputElement>(null)
  const noteId = useId()
  const listId = useId()
  const [current, setCurrent] = useState({ text: '', at: 0, isClosed: false })
  const { list } = attachments
  const files = list.flatMap(({ file }): SentFile[] => (file === null ? [] : [file]))
  const hasFailed = list.some(({ problem }) => problem !== null)
  const reason = whyNot(text, list.length, hasFailed)
  const typed = commands.length === 0 ? undefined : /^\/(\S*)$/.exec(text)?.[1]
  const { at, isClosed } = current.text === text ? current : { at: 0, isClosed: false }
  const offered = typed === undefined || isClosed ? NO_COMMANDS : commands.filter(({ name }) => name.startsWith(typed))
  const isUploading = !hasFailed && list.length > files.length
  /** It is sent as soon as its files are up. */
  const [isDue, setDue] = useState(false)

  useImperativeHandle(ref, () => ({
    attach: attachments.add,
    focusIfFree: () => focusIfFree(field.current),
    restore(kept) {
      setText((now) => (now.trim() === '' ? kept.text : `${kept.text}\n${now}`))
      attachments.restore(kept.files)
      field.current?.focus()
    },
  }))
  // biome-ignore lint/correctness/useExhaustiveDependencies: `files` is made anew from `list` each time
  useEffect(() => writeDraft(sessionId, { text, files }), [sessionId, text, list])
  useLayoutEffect(() => fit(field.current), [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: its height follows its text
  useLayoutEffect(() => fit(field.current), [text])
  const isEdit = initial !== null
  useEffect(() => (isEdit ? focusEnd(field.current) : focusIfFree(field.current)), [isEdit])

  function send(): void {
    if (reason !== null) return
    if (isUploading) {
      setDue(true)
      return
    }
    onSend({ text, files })
    setText('')
    attachments.clear()
    // The page may be left at once, before the effect that writes the draft.
    writeDraft(sessionId, { text: '', files: [] })
    field.current?.focus()
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the files decide when it goes
  useEffect(() => {
    if (!isDue || isUploading) return
    setDue(false)
    if (hasFailed) announce('Not sent: a file could not be uploaded. Your message is still here.')
    else send()
  }, [isDue, isUploading, hasFailed])
  function onSubmit(event: FormEvent): void {
    event.preventDefault()
    if (isDue) setDue(false)
    else send()
  }
  function onKeyDown(event: KeyboardEvent): void {
    // While letters are being composed, Enter chooses one of them.
    if (event.nativeEvent.isComposing) return
    if (offered.length > 0 && choosesCommand(event.key)) {
      event.preventDefault()
      return
    }
    if (event.key === 'Escape') leaveField()
    if (event.key !== 'Enter' || event.shiftKey) return
    event.preventDefault()
    if (!event.repeat) send()
  }
  function takeCommand(name: string): void {
    setText(`/${name} `)
    field.current?.focus()
  }
  /** True if the key was for the list of commands. */
  function choosesCommand(key: string): boolean {
    const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
    const { name = '' } = offered[at] ?? {}
    if (step !== 0) setCurrent({ text, at: (at + step + offered.length) % offered.length, isClosed: false })
    else if (key === 'Escape') setCurrent({ text, at: 0, isClosed: true })
    // What is written out is sent.
    else if (key === 'Tab' || (key === 'Enter' && name !== typed)) takeCommand(name)
    else return false
    return true
  }
  function onPaste(event: ClipboardEvent): void {
    if (event.clipboardData.files.length === 0) return
    event.preventDefault()
    attachments.add([...event.clipboardData.files])
  }
  return (
    <form className={styles.composer} onSubmit={onSubmit}>
      {list.length > 0 && (
        <Suspense fallback={<Loading rows={1} height={40} />}>
          <AttachmentList list={list} onRemove={attachments.remove} />
        </Suspense>
      )}
      {offered.length > 0 && (
        <Suspense>
          <CommandList id={listId} commands={offered} at={at} onTake={takeCommand} />
        </Suspense>
      )}
      <textarea
        ref={field}
        className={styles.field}
        rows={1}
        dir="auto"
        aria-label={placeholder}
        aria-describedby={noteId}
        {...(offered.length === 0
          ? {}
          : {
              'aria-autocomplete': 'list' as const,
              'aria-controls': listId,
              'aria-activedescendant': `${listId}-${at}`,
            })}
        placeholder={placeholder}
        value={text}
        readOnly={isDue}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
      <div className={styles.bar}>
        <IconButton label="Attach files" icon={<AttachIcon />} onClick={() => picker.current?.click()} />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            attachments.add([...(event.target.files ?? [])])
            // The same file can be chosen again.
            event.target.value = ''
          }}
        />
        {options}
        <span id={noteId} className={styles.note}>
          {isDue && <span role="status">It is sent as soon as the files are up.</span>}
          {text.length > LONGEST * 0.9 && `${text.length.toLocaleString('en')} of ${LONGEST.toLocaleString('en')}`}
        </span>
        {onStop !== undefined && (
          <IconButton
            kind="plain"
            label="Stop run (.)"
            icon={<StopIcon />}
            onClick={({ currentTarget }) => {
              onStop()
              // It goes away, and the focus must not go with it.
              currentTarget.blur()
              focusIfFree(field.current)
            }}
          />
        )}
        <IconButton
          kind={isQuiet ? 'plain' : 'primary'}
          type="submit"
          label={isDue ? 'Do not send yet' : (reason ?? 'Send')}
          icon={isDue ? <CloseIcon /> : <SendIcon />}
          disabled={reason !== null}
        />
      </div>
    </form>
  )
}

/** Why it cannot be sent, or null. */
function whyNot(text: string, attached: number, hasFailed: boolean): string | null {
  if (text.trim() === '') return attached > 0 ? 'Write a message to send with the files' : 'Write a message to send'
  if (text.length > LONGEST) return `A message may have ${LONGEST.toLocaleString('en')} characters`
  return hasFailed ? 'Remove the files that failed' : null
}

/** As high as its text, up to a limit. */
function fit(field: HTMLTextAreaElement | null): void {
  if (field === null) return
  field.style.height = 'auto'
  field.style.height = `${Math.min(field.scrollHeight, TALLEST_PX)}px`
}

/** Ready to type, unless somebody is somewhere else already. On a phone the keyboard would cover the page. */
function focusIfFree(field: HTMLTextAreaElement | null): void {
  if (!matchMedia('(pointer: fine)').matches) return
  requestAnimationFrame(() => {
    const here = document.activeElement
    if (here === null || here === document.body || here instanceof HTMLHeadingElement) focusEnd(field)
  })
}
