import { describe, expect, test } from 'vitest'
import { attribute, scanXml } from './xml-scanner.ts'

async function* inPieces(xml: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(xml)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function eventsOf(xml: string, size = 1_000): Promise<string[]> {
  const events: string[] = []
  let text = ''
  const flush = () => {
    if (text !== '') events.push(text)
    text = ''
  }
  await scanXml(inPieces(xml, size), {
    open(name, attributes) {
      flush()
      events.push(`<${name}${attributes}>`)
    },
    close(name) {
      flush()
      events.push(`</${name}>`)
    },
    text(piece) {
      text += piece
    },
  })
  return events
}

describe('scanXml', () => {
  const xml = `\uFEFF<?xml version="1.0"?><!-- <no> --><w:a x:y="1 > 0"><b/>Ünï &amp; &#x41;&#66;<![CDATA[<raw>&]]></w:a>`
  const events = ['<a x:y="1 > 0">', '<b>', '</b>', 'Ünï & AB<raw>&', '</a>']

  test('gives tags and text in order, without prefixes', async () => {
    expect(await eventsOf(xml)).toEqual(events)
  })

  test('does not depend on where the chunks are cut', async () => {
    for (const size of [1, 2, 3, 7, 16]) expect(await eventsOf(xml, size)).toEqual(events)
  })

  test.each([
    ['a tag that is not closed', '<a><b></a>'],
    ['an end that comes too soon', '<a><b>'],
    ['text around the root', '<a/>text'],
    ['a second root', '<a/><b/>'],
    ['nothing at all', ''],
    ['an entity that nobody declared', '<a>&lol;</a>'],
    ['an entity with the name of a method', '<a>&constructor;</a>'],
    ['a character beyond Unicode', '<a>&#x110000;</a>'],
    ['a document type', '<!DOCTYPE a><a/>'],
  ])('refuses %s', async (_, broken) => {
    await expect(eventsOf(broken)).rejects.toMatchObject({ code: 'file_unreadable' })
  })
})

describe('attribute', () => {
  test('finds an attribute by its full name', () => {
    const attributes = ` id="256" r:id = 'rId2' name="a &quot;b&quot; id='no'"`

    expect(['id', 'r:id', 'name', 'me', 'd'].map((name) => attribute(attributes, name))).toEqual([
      '256',
      'rId2',
      `a "b" id='no'`,
      undefined,
      undefined,
    ])
  })
})
