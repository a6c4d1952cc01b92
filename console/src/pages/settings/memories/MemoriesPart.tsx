import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Memory } from 'quarterdeck/client'
import { useState } from 'react'
import { useClient } from '../../../data/server.tsx'
import { useIsLive } from '../../../data/use-live.tsx'
import { announce } from '../../../parts/Announcer.tsx'
import { ErrorNotice } from '../../../parts/approval/Problem.tsx'
import { Button } from '../../../parts/Button.tsx'
import { Confirm } from '../../../parts/Confirm.tsx'
import { FormDialog } from '../../../parts/Dialog.tsx'
import { Options, Select, TextArea } from '../../../parts/Field.tsx'
import { DeleteIcon, ThinkIcon } from '../../../parts/icons.ts'
import { Time } from '../../../parts/Time.tsx'
import { useAction } from '../../../parts/use-action.ts'
import { VisibleText } from '../../../parts/VisibleText.tsx'
import { Facts, Row, RowAction, Rows } from '../Rows.tsx'
import { Section } from '../Section.tsx'

const EVERYBODY = '*'
const MOST_CHARS = 500

/** What agents keep about a person between sessions. Operators may look at what is kept about others. */
export function MemoriesPart({ ofOthers = true }: { ofOthers?: boolean }) {
  const client = useClient()
  /** Empty: oneself. */
  const [owner, setOwner] = useState('')
  const [owners, setOwners] = useState<readonly string[]>([])
  const [open, setOpen] = useState<{ memory: Memory; what: 'correct' | 'forget' } | 'everything' | null>(null)
  const of = owner === '' ? {} : { owner }
  const found = useQuery({
    queryKey: ['memories', owner],
    async queryFn({ signal }) {
      const { memories } = await client.memories.list({ ...of, signal })
      if (owner === EVERYBODY) setOwners([...new Set(memories.map((one) => one.owner))].sort())
      return memories
    },
  })
  const close = () => setOpen(null)
  const whom = owner === '' ? 'you' : owner
  return (
    <Section
      title="Memories"
      about="What agents keep between sessions, to tell themselves again. They take it for information, and it allows them nothing."
      action={
        owner !== EVERYBODY && (
          <Button
            icon={<DeleteIcon />}
            disabled={found.data === undefined || found.data.length === 0}
            onClick={() => setOpen('everything')}
          >
            Forget everything
          </Button>
        )
      }
    >
      {ofOthers && (
        <Select label="About" value={owner} onChange={({ target }) => setOwner(target.value)}>
          <Options of={[['', 'Me'], [EVERYBODY, 'Everybody'], ...owners.map((name) => [name, name] as const)]} />
        </Select>
      )}
      <Rows
        query={found}
        keyOf={({ memory_id, owner: about }) => `${about} ${memory_id}`}
        label="Memories"
        none={
          <>
            No agent keeps anything about {owner === EVERYBODY ? 'anybody' : <bdi>{whom}</bdi>}.
            {ofOthers && (
              <>
                {' '}
                With <code>memory: true</code> in its file it can.
              </>
            )}
          </>
        }
      >
        {(memory) => (
          <MemoryRow memory={memory} showsOwner={owner === EVERYBODY} onChange={(what) => setOpen({ memory, what })} />
        )}
      </Rows>
      {open === 'everything' ? (
        <Confirm
          title="Forget everything?"
          verb="Forget everything"
          done="Everything is forgotten"
          stale={['memories']}
          act={async () => void (await client.memories.forgetAll(of))}
          onClose={close}
        >
          <p>
            No agent will know any more what it kept about <bdi>{whom}</bdi>. What was said stays in its session until
            that is deleted.
          </p>
        </Confirm>
      ) : open?.what === 'forget' ? (
        <Confirm
          title="Forget this?"
          verb="Forget"
          done="It is forgotten"
          stale={['memories']}
          act={() => client.memories.forget(open.memory.memory_id, { owner: open.memory.owner })}
          onClose={close}
        >
          <p>
            <VisibleText inline text={open.memory.text} />
          </p>
        </Confirm>
      ) : (
        open !== null && <Correct memory={open.memory} onClose={close} />
      )}
    </Section>
  )
}

interface MemoryRowProps {
  memory: Memory
  showsOwner: boolean
  onChange: (what: 'correct' | 'forget') => void
}

function MemoryRow({ memory, showsOwner, onChange }: MemoryRowProps) {
  const { agent, owner, text, created_at, corrected_at } = memory
  return (
    <Row
      icon={<ThinkIcon aria-hidden="true" />}
      title={<VisibleText inline text={text} />}
      action={
        <>
          <RowAction label={`Correct: ${text}`} onClick={() => onChange('correct')}>
            Correct
          </RowAction>
          <RowAction label={`Forget: ${text}`} onClick={() => onChange('forget')}>
            Forget
          </RowAction>
        </>
      }
    >
      <Facts>
        <span>
          Kept by <bdi>{agent}</bdi>, <Time at={created_at} />
        </span>{' '}
        {showsOwner && (
          <span>
            about <bdi>{owner}</bdi>
          </span>
        )}{' '}
        {corrected_at !== null && (
          <span>
            corrected <Time at={corrected_at} />
          </span>
        )}
      </Facts>
    </Row>
  )
}

function Correct({ memory: { memory_id, owner, text }, onClose }: { memory: Memory; onClose: () => void }) {
  const client = useClient()
  const queries = useQueryClient()
  const isLive = useIsLive()
  const [next, setNext] = useState(text)
  const { isBusy, error, run } = useAction()
  async function send(): Promise<void> {
    const isDone = await run(async () => {
      await client.memories.correct(memory_id, next, { owner })
      await queries.invalidateQueries({ queryKey: ['memories'] })
    })
    if (!isDone) return
    announce('It is corrected')
    onClose()
  }
  return (
    <FormDialog
      title="Correct this"
      verb="Correct"
      isReady={isLive && next.trim() !== '' && next !== text}
      isBusy={isBusy}
      onSend={() => void send()}
      onClose={onClose}
      problem={<ErrorNotice error={error} />}
    >
      <TextArea
        label="What is true"
        help="The agent is told it from the next message on."
        value={next}
        maxLength={MOST_CHARS}
        onChange={({ target }) => setNext(target.value)}
      />
    </FormDialog>
  )
}
