// What a browser does between the dashboard and an identity provider: it keeps the cookies of each site and follows
// redirects, one by one.

export interface Browsing {
  /** Follows redirects to the end, or up to the first address that `stop` takes. */
  visit(url: string, stop?: (url: URL) => boolean): Promise<Visited>;
  fetch(url: string, init?: RequestInit): Promise<Response>;
  /** The cookies of a site, as it would get them. */
  cookies(url: string): string;
}

interface Visited {
  /** Address of the last page, or the one that was not opened. */
  readonly url: URL;
  readonly response: Response | null;
}

const REDIRECTS_MAX = 15;

export function browse(): Browsing {
  const jars = new Map<string, Map<string, string>>();
  const jarOf = (url: string): Map<string, string> => {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  };
  const cookies = (url: string): string => [...jarOf(url)].map(([name, value]) => `${name}=${value}`).join("; ");
  const send = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const response = await fetch(url, {
      ...init,
      redirect: "manual",
      // The gateway shares the connections of this process, and its own are what is tried.
      headers: { cookie: cookies(url), "sec-fetch-site": "same-origin", connection: "close", ...init.headers },
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === "" || /expires=Thu, 01 Jan 1970/i.test(set)) jarOf(url).delete(name);
      else jarOf(url).set(name, value);
    }
    return response;
  };
  return {
    fetch: send,
    cookies,
    async visit(first, stop = () => false) {
      let url = new URL(first);
      for (let step = 0; step < REDIRECTS_MAX; step += 1) {
        if (stop(url)) return { url, response: null };
        const response = await send(url.href);
        const location = response.headers.get("location");
        if (location === null) return { url, response };
        url = new URL(location, url);
      }
      throw new Error(`no end of redirects at ${url.href}`);
    },
  };
}
