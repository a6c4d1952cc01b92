import type { ShownArgument, ShownCall } from 'quarterdeck/client'
import { useEffect, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { errorText } from '../../error-text.ts'
import { byteWord, counted } from '../../words.ts'
import { Badge } from '../Badge.tsx'
import { Button } from '../Button.tsx'
import { HiddenIcon, RevealIcon } from '../icons.ts'
import { SeenText } from '../seen/SeenText.tsx'
import type { Seen } from '../seen/seen.ts'
import { useAction } from '../use-action.ts'
import { VisibleText } from '../VisibleText.tsx'
import { ARGUMENTS, manyArguments } from './approval-parts.ts'
import styles from './ShownArguments.module.css'

interface ShownArgumentsProps {
  approvalId: string
  shown: ShownCall
  onSeen: (name: string, seen: Seen) => void
  /** Reads what was too long. Null: there is nothing more. */
  onOpenAll: (() => void) | null
  isOpening: boolean
}

/** Every argument, whole, as the server shows it. */
export function ShownArguments({ approvalId, shown, onSeen, onOpenAll, isOpening }: ShownArgumentsProps) {
  if (shown.arguments.length === 0) return <p className={styles.none}>The call has no arguments.</p>
  const together = manyArguments(shown)
  if (together !== null) {
    return (
      <div className={styles.together}>
        <SeenText text={together} label="The arguments" onSeen={(seen) => onSeen(ARGUMENTS, seen)} />
        {shown.arguments.some(({ cut }) => cut !== null) && onOpenAll !== null && (
          <Button isBusy={isOpening} onClick={onOpenAll}>
            Open all
          </Button>
        )}
      </div>
    )
  }
  return (
    <dl className={styles.list}>
      {shown.arguments.map((argument) => (
        <Argument
          key={argument.name}
          approvalId={approvalId}
          argument={argument}
          onSeen={(seen) => onSeen(argument.name, seen)}
          onOpenAll={onOpenAll}
          isOpening={isOpening}
        />
      ))}
    </dl>
  )
}

interface ArgumentProps {
  approvalId: string
  argument: ShownArgument
  onSeen: (seen: Seen) => void
  onOpenAll: (() => void) | null
  isOpening: boolean
}

const WORTH_A_SIZE = 1_000

function Argument({ approvalId, argument, onSeen, onOpenAll, isOpening }: ArgumentProps) {
  const { name, text, hidden, bytes, cut, secret } = argument
  const { revealed, error, isBusy, flip } = useReveal(approvalId, name, text)
  return (
    <div className={styles.argument}>
      <dt className={styles.name}>
        <VisibleText text={name} inline />
        {hidden > 0 && <Badge tone="warn">{counted(hidden, 'hidden character')}</Badge>}
        {bytes >= WORTH_A_SIZE && <span className={styles.size}>{byteWord(bytes)}</span>}
        {secret && (
          <Button
            kind="quiet"
            className={styles.reveal}
            icon={revealed === null ? <RevealIcon /> : <HiddenIcon />}
            isBusy={isBusy}
            onClick={flip}
          >
            {revealed === null ? 'Reveal' : 'Hide'}
          </Button>
        )}
      </dt>
      <dd className={styles.value}>
        <SeenText text={revealed ?? text} label={name} onSeen={onSeen} />
        {cut !== null && (
          <p className={styles.cut}>
            Only the first {byteWord(cut.shown_bytes)} of {byteWord(bytes)} are here. SHA-256 of all of it:{' '}
            <code>{cut.sha256}</code>
            {onOpenAll !== null && (
              <Button isBusy={isOpening} onClick={onOpenAll}>
                Open all
              </Button>
            )}
          </p>
        )}
        {error !== null && <p className={styles.problem}>{errorText(error)}</p>}
      </dd>
    </div>
  )
}

/** The reveal is in the audit trail, so it happens on a press only, and ends when the value changes. */
function useReveal(approvalId: string, name: string, masked: string) {
  const client = useClient()
  const [revealed, setRevealed] = useState<string | null>(null)
  const { isBusy, error, run } = useAction()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another value is another secret
  useEffect(() => setRevealed(null), [approvalId, masked])
  const reveal = () => run(async () => setRevealed((await client.reveal(approvalId, name)).text))
  return { revealed, error, isBusy, flip: () => (revealed === null ? void reveal() : setRevealed(null)) }
}
