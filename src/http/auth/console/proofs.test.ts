import { describe, expect, test } from 'vitest'
import { ServerError } from '../../../domain/errors.ts'
import type { Caller } from '../../../domain/supervision/decision.ts'
import type { ProofPurpose } from '../../../domain/supervision/step-up.ts'
import { openProofs, place, proofText } from './testing/open-proofs.ts'

const approve: ProofPurpose = { kind: 'decision', approvalId: 'a', digest: 'd', decision: 'approve', remember: null }
const ada: Caller = { user: 'ada', role: 'operator' }

type Proofs = ReturnType<typeof openProofs>['proofs']

/** What the audit trail gets, or why it is refused. */
const outcome = (proofs: Proofs, by: Caller, purpose: ProofPurpose) =>
  proofs.require(by, purpose).catch((error: unknown) => (error instanceof ServerError ? error.message : error))

const refused = (why: string) =>
  `This decision needs a passkey. The proof that you sent does not count. ${why} It is still pending. Do it in the console: http://localhost:8000/console/inbox/a`

describe('a proof with a passkey', () => {
  test('is not needed while nobody has a passkey', async () => {
    const { proofs } = openProofs()

    expect([await proofs.isOn(), await proofs.require(ada, approve)]).toEqual([false, {}])
  })

  test('is needed from everybody once somebody has one, and says where', async () => {
    const { proofs, register } = openProofs()
    await register('ada')

    await expect(proofs.require(ada, approve)).rejects.toMatchObject({
      code: 'passkey_required',
      message:
        'This decision needs a passkey. It is still pending. Do it in the console: http://localhost:8000/console/inbox/a',
      details: { url: 'http://localhost:8000/console/inbox/a', approval_id: 'a' },
    })
    expect(await outcome(proofs, { user: 'bob', role: 'operator' }, { kind: 'token' })).toBe(
      'A new token of an operator needs a passkey. You have none: ask somebody who has one to add your device, in the console: http://localhost:8000/console/settings',
    )
    expect(await outcome(proofs, { user: 'eve', role: 'user' }, approve)).toBe(
      'This decision needs a passkey. It is still pending. Ask an operator to do it, in the console: http://localhost:8000/console/inbox/a',
    )
  })

  test('counts for the request that brings it, however often it is asked, and for no other', async () => {
    const { proofs, passkeys, register, prove, clock } = openProofs()
    const key = await register('ada')
    const by = { ...ada, proof: await prove('ada', approve, key) }
    clock.advance(60_000)

    const passkey = (await passkeys.list())[0]?.id
    expect([await proofs.require(by, approve), await proofs.require(by, approve)]).toEqual([{ passkey }, { passkey }])
    expect((await passkeys.list())[0]).toMatchObject({ counter: 1, lastUsedAt: clock.now() })
    expect(await outcome(proofs, { ...by }, approve)).toBe(
      refused('It was used already, or it is older than two minutes.'),
    )
  })

  test('of a stranger is one of the latest two hundred, and drops none of somebody who is known', async () => {
    const { proofs, register, prove } = openProofs()
    const key = await register('ada')
    const known = await prove('ada', approve, key)
    const asked: string[] = []
    for (let i = 0; i < 202; i += 1) {
      const one = await proofs.ask(null, { kind: 'sign_in' }, place)
      asked.push(proofText(one?.challenge_id ?? '', key.get(one?.options ?? { challenge: '' }, place)))
    }

    const [first = '', , third = '', last = ''] = [...asked.slice(0, 3), asked.at(-1)]
    await expect(proofs.identify(first)).rejects.toMatchObject({ code: 'unauthorized' })
    expect(await proofs.require({ ...ada, proof: known }, approve)).toMatchObject({ passkey: expect.any(String) })
    expect(await proofs.identify(third)).toMatchObject({ user: 'ada' })
    expect(await proofs.identify(last)).toMatchObject({ user: 'ada' })
  })

  test('sent twice at once counts once', async () => {
    const { proofs, register, prove } = openProofs()
    const proof = await prove('ada', approve, await register('ada'))

    const both = await Promise.all([1, 2].map(() => outcome(proofs, { ...ada, proof }, approve)))

    expect(both.filter((one) => typeof one === 'object')).toHaveLength(1)
  })

  test.each<[string, Partial<ProofPurpose & { kind: 'decision' }>]>([
    ['another approval', { approvalId: 'b' }],
    ['another question', { digest: 'other' }],
    ['another decision', { decision: 'respond' }],
    ['a decision that is remembered', { remember: 'always' }],
  ])('for %s does not count', async (_name, other) => {
    const { proofs, register, prove } = openProofs()
    const proof = await prove('ada', { ...approve, ...other }, await register('ada'))

    expect(await outcome(proofs, { ...ada, proof }, approve)).toBe(refused('It was made for something else.'))
  })

  test('of somebody else does not count, nor one with somebody else’s passkey', async () => {
    const { proofs, register, prove } = openProofs()
    const [hers, his] = [await register('ada'), await register('bob')]

    const foreign = await prove('bob', approve, his)
    expect(await outcome(proofs, { ...ada, proof: foreign }, approve)).toBe(refused('It was made for something else.'))
    const swapped = await prove('ada', approve, his)
    expect(await outcome(proofs, { ...ada, proof: swapped }, approve)).toBe(refused('It is not of a passkey of yours.'))
    const named = await proofs.ask('ada', approve, place)
    const lie = {
      ...his.get(named?.options ?? { challenge: '' }, place),
      id: hers.credentialId,
      rawId: hers.credentialId,
    }
    expect(await outcome(proofs, { ...ada, proof: proofText(named?.challenge_id ?? '', lie) }, approve)).toBe(
      refused('It is not valid.'),
    )
  })

  test('that is too old, of a copied passkey, without a person or of another page does not count', async () => {
    const { proofs, register, prove, clock } = openProofs()
    const key = await register('ada')

    const late = await prove('ada', approve, key)
    clock.advance(120_000)
    expect(await outcome(proofs, { ...ada, proof: late }, approve)).toBe(
      refused('It was used already, or it is older than two minutes.'),
    )
    await proofs.require({ ...ada, proof: await prove('ada', approve, key) }, approve)
    key.counter = 0
    expect(await outcome(proofs, { ...ada, proof: await prove('ada', approve, key) }, approve)).toBe(
      refused('It is not valid.'),
    )
    key.counter = 100
    for (const elsewhere of [{ isUnverified: true }, { origin: 'http://localhost:9000' }, { rpId: 'evil.example' }]) {
      const asked = await proofs.ask('ada', approve, place)
      const response = key.get(asked?.options ?? { challenge: '' }, { ...place, ...elsewhere })
      const proof = proofText(asked?.challenge_id ?? '', response)
      expect(await outcome(proofs, { ...ada, proof }, approve)).toBe(refused('It is not valid.'))
    }
  })

  test.each([
    '',
    'x',
    Buffer.from('null').toString('base64url'),
    Buffer.from('[[[[').toString('base64url'),
    proofText('x', null),
    proofText('x', { id: 'x', rawId: 'x', type: 'password', response: {} }),
    proofText('x', { __proto__: { id: 1 } }),
    proofText('x'.repeat(10_000), { id: 'x' }),
    Buffer.from('['.repeat(10_000)).toString('base64url'),
  ])('that cannot be read is a mistake of the client (%#)', async (proof) => {
    const { proofs, register } = openProofs()
    await register('ada')

    await expect(proofs.require({ ...ada, proof }, approve)).rejects.toMatchObject({ code: 'invalid_request' })
  })

  test('is asked for only at the address that the passkey was made for', async () => {
    const { proofs, register } = openProofs()
    await register('ada')

    expect(await proofs.ask('ada', approve, { ...place, rpId: 'agents.example.com' })).toBeNull()
    expect(await proofs.ask('ada', approve, { ...place, whyNot: 'An IP address.' })).toBeNull()
    expect(await proofs.ask('bob', approve, place)).toBeNull()
  })

  test('of a new passkey needs its own challenge', async () => {
    const { proofs, register } = openProofs()
    const key = await register('ada')
    const asked = await proofs.ask('ada', { kind: 'passkey' }, place)
    const response = key.create(asked?.options ?? { challenge: '' }, place)
    const sent = { challengeId: asked?.challenge_id ?? '', label: '', response: Object(response) }

    await expect(proofs.register('ada', sent)).rejects.toMatchObject({ code: 'invalid_request' })
    const fresh = await proofs.askNew('ada', place)
    const again = { challengeId: fresh.challenge_id, label: '', response: Object(key.create(fresh.options, place)) }
    await expect(proofs.register('bob', again)).rejects.toMatchObject({ code: 'invalid_request' })
    const third = await proofs.askNew('ada', place)
    const same = { challengeId: third.challenge_id, label: '', response: Object(key.create(third.options, place)) }
    await expect(proofs.register('ada', same)).rejects.toMatchObject({ code: 'conflict' })
  })
})
