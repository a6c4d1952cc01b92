import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ClientError, type Passage } from 'quarterdeck/client'
import { useContext, useState } from 'react'
import { useClient } from '../../data/server.tsx'
import { errorText } from '../../error-text.ts'
import { given } from '../../given.ts'
import { Badge } from '../Badge.tsx'
import { Button } from '../Button.tsx'
import { CutText } from '../CutText.tsx'
import { Dialog } from '../Dialog.tsx'
import { FileIcon } from '../icons.ts'
import { passageWords } from '../passage-words.ts'
import { Empty, Pending } from '../States.tsx'
import { VisibleText } from '../VisibleText.tsx'
import type { Source } from './citations.ts'
import { AgentContext } from './conversation.ts'
import styles from './Sources.module.css'

const AROUND = 2

/** A cited passage as its file has it now, and what stands around it. */
export default function PassageDialog({ source, onClose }: { source: Source; onClose: () => void }) {
  const client = useClient()
  const agent = useContext(AgentContext)
  const [around, setAround] = useState(0)
  const { id, tool } = source
  const passages = useQuery({
    queryKey: ['passage', agent, tool, id, around],
    queryFn: ({ signal }) =>
      client.knowledge.passage(id, { agent: agent ?? '', ...given({ tool }), before: around, after: around, signal }),
    enabled: agent !== null,
    placeholderData: keepPreviousData,
    // Nothing is kept: a file that has changed must not be shown as it was.
    staleTime: 0,
    gcTime: 0,
  })
  const { data, error } = passages
  return (
    <Dialog
      title={`Source ${source.number}`}
      width="wide"
      onClose={onClose}
      actions={
        data === undefined || error !== null ? undefined : (
          <Button disabled={around > 0} isBusy={passages.isPlaceholderData} onClick={() => setAround(AROUND)}>
            More around it
          </Button>
        )
      }
    >
      {isGone(error) ? (
        <Empty title="The file does not say this any more" icon={<FileIcon />}>
          <p>{errorText(error)}</p>
        </Empty>
      ) : data === undefined || error !== null ? (
        <Pending query={passages} rows={1} height={120} />
      ) : (
        <Passages passages={data} cited={id} />
      )}
    </Dialog>
  )
}

const isGone = (error: unknown): boolean => error instanceof ClientError && error.code === 'record_not_found'

export function Passages({ passages, cited }: { passages: readonly Passage[]; cited: string }) {
  return (
    <ol className={styles.passages} aria-label="Passages">
      {passages.map((passage) => (
        <li key={passage.id} className={styles.passage} aria-current={passage.id === cited ? 'true' : undefined}>
          <p className={styles.place}>
            <VisibleText text={passageWords(passage)} inline isRaw />{' '}
            {passage.id === cited && passages.length > 1 && <Badge tone="accent">Cited</Badge>}
          </p>
          <CutText text={passage.text} />
        </li>
      ))}
    </ol>
  )
}
