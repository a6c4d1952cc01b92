// What a person does at a chat page and sees on it. One driver for each client, since each has other buttons.

import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import { inject } from 'vitest'

/** A browser that other tests may use too. Ends with `await using`; its pages close with it, the browser stays. */
export async function connectBrowser(): Promise<Browser> {
  const endpoint = inject('browser')
  if (endpoint === null) throw new Error('A test that needs a browser ran without one.')
  return chromium.connect(endpoint)
}

/** A picture of 40 by 30 points. */
export const redDot = {
  name: 'dot.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAACgAAAAeCAIAAADRv8uKAAAAK0lEQVR4nO3NMQ0AAAgDsCmZfynIQgYcTfo3056IWCwWi8VisVgsFov/xgvk2cL9h1Oh3gAAAABJRU5ErkJggg==',
    'base64',
  ),
}

export interface ChatPage {
  readonly page: Page
  say(text: string): Promise<void>
  stop(): Promise<void>
  /** Chooses a picture, which goes with the next message. */
  attach(picture: { name: string; mimeType: string; buffer: Buffer }): Promise<void>
  /** Who said what, as it stands on the page. */
  said(): Promise<[role: string, text: string][]>
  /** The approval that waits. */
  readonly approval: Locator
  /** The picture in a message of the user. */
  readonly picture: Locator
  /** How wide it is by itself; 0: it could not be loaded. */
  pictureWidth(): Promise<number>
  /** What tools said while they worked. */
  readonly activities: Locator
  /** What the page says of a failure. */
  readonly failure: Locator
}

export interface ChatPageOptions {
  /** The page of the example. */
  at: string
  server: string
  thread?: string
  /** Empty or left out: the person has none yet. */
  token?: string
  /** Headers that something else on the page adds to all requests, as tracing does. */
  addedHeaders?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
}

export async function openChatPage(browser: Browser, options: ChatPageOptions): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 900, height: 800 } })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  if (options.token) {
    await page.addInitScript((token) => sessionStorage.setItem('token', token), options.token)
  }
  if (options.addedHeaders !== undefined) {
    await page.addInitScript((added) => {
      const { fetch } = globalThis
      globalThis.fetch = (input, init) => {
        const request = new Request(input, init)
        for (const [name, value] of Object.entries(added)) request.headers.set(name, value)
        return fetch(request)
      }
    }, options.addedHeaders)
  }
  const query = new URLSearchParams({ url: options.server, thread: options.thread ?? 'talk', ...options.query })
  await page.goto(`${options.at}/?${query}`)
  return page
}

const widthOf = (picture: Locator): Promise<number> =>
  picture.evaluate((element) => ('naturalWidth' in element ? Number(element.naturalWidth) : 0))

export async function openAssistantUi(browser: Browser, options: ChatPageOptions): Promise<ChatPage> {
  const page = await openChatPage(browser, options)
  const input = page.getByLabel('Message', { exact: true })
  return {
    page,
    say: async (text) => {
      await input.fill(text)
      await page.getByRole('button', { name: 'Send' }).click()
    },
    stop: () => page.getByRole('button', { name: 'Stop' }).click(),
    attach: async (picture) => {
      const chosen = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: 'Attach' }).click()
      await (await chosen).setFiles(picture)
    },
    said: () =>
      page.locator('[data-role]').evaluateAll((elements) =>
        elements.flatMap((element): [string, string][] => {
          const text = [...element.querySelectorAll(':scope > p')]
            .map(({ textContent }) => textContent)
            .join('')
            // A dot stands behind a text that grows.
            .replace(/ ●$/, '')
          return text === '' ? [] : [[element.getAttribute('data-role') ?? '', text]]
        }),
      ),
    approval: page.locator('[data-approval]'),
    picture: page.locator('[data-role="user"] img'),
    pictureWidth: () => widthOf(page.locator('[data-role="user"] img')),
    activities: page.locator('[data-activity]'),
    failure: page.getByRole('alert'),
  }
}

export async function openCopilotKit(browser: Browser, options: ChatPageOptions): Promise<ChatPage> {
  const page = await openChatPage(browser, options)
  const input = page.getByTestId('copilot-chat-textarea')
  const messages = '[data-testid="copilot-user-message"], [data-testid="copilot-assistant-message"]'
  return {
    page,
    say: async (text) => {
      await input.fill(text)
      await page.getByTestId('copilot-send-button').click()
    },
    // The same button sends and stops.
    stop: () => page.getByTestId('copilot-send-button').click(),
    attach: async (picture) => {
      await page.locator('input[type="file"]').setInputFiles(picture)
    },
    said: () =>
      page.locator(messages).evaluateAll((elements) =>
        elements.flatMap((element): [string, string][] => {
          // The cards of tools are part of the message.
          const cards = [...element.querySelectorAll('[data-testid="copilot-tool-render"]')]
          const shown = cards.reduce(
            (left, card) => left.replace(card.textContent ?? '', ''),
            element.textContent ?? '',
          )
          const text = shown.trim()
          const role = element.getAttribute('data-testid') === 'copilot-user-message' ? 'user' : 'assistant'
          return text === '' ? [] : [[role, text]]
        }),
      ),
    approval: page.locator('[data-approval]'),
    picture: page.locator('[data-testid="copilot-user-message"] img'),
    pictureWidth: () => widthOf(page.locator('[data-testid="copilot-user-message"] img')),
    activities: page.locator('[data-activity]'),
    failure: page.getByRole('alert'),
  }
}
