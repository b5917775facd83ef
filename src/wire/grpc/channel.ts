import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { onAbort, reasonOf, throwIfAborted } from '#base/abort.ts';
import { Channel } from '#base/channel.ts';
import type { Clock } from '#base/clock.ts';
import { InvalidInput } from '#base/errors.ts';
import type { MethodName, RequestOf, ResponseOf, ServiceDefinition } from './definition.ts';
import { GrpcFailure } from './failure.ts';

export interface CallOptions {
  /** Counted from now; the call fails with DEADLINE_EXCEEDED. Without it the call may take for ever. */
  readonly timeoutMs?: number | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A connection to one gRPC server on a unix socket. It is made by the first call and made again after it broke. */
export interface GrpcChannel {
  /** @throws {GrpcFailure}, or what the signal was aborted with */
  call<S extends ServiceDefinition, M extends MethodName<S>>(
    service: S,
    method: M,
    request: RequestOf<S, M>,
    options: CallOptions,
    signal: AbortSignal,
  ): Promise<ResponseOf<S, M>>;
  /** The messages of a server stream; leaving the loop, or the signal, cancels it. @throws {GrpcFailure} when it breaks */
  stream<S extends ServiceDefinition, M extends MethodName<S>>(
    service: S,
    method: M,
    request: RequestOf<S, M>,
    options: CallOptions,
    signal: AbortSignal,
  ): AsyncGenerator<ResponseOf<S, M>, void, void>;
  /** Calls in flight fail. May be called twice. */
  close(): void;
}

const maxMessageBytes = 16 * 1024 * 1024;

/** @param endpoint `unix:///path`. @throws {InvalidInput} for any other form */
export function openChannel(endpoint: string, clock: Clock): GrpcChannel {
  if (!/^unix:\/\/\/./.test(endpoint)) {
    throw new InvalidInput({ message: `endpoint ${JSON.stringify(endpoint)} is not of the form unix:///path` });
  }
  const client = new Client(endpoint, credentials.createInsecure(), {
    'grpc.default_authority': 'localhost', // servers in Go refuse a socket's path as authority
    'grpc.initial_reconnect_backoff_ms': 20,
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.use_local_subchannel_pool': 1, // a test's dead server must not set the back-off of the next one
    'grpc.enable_http_proxy': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.enable_retries': 0, // who calls decides what may be repeated
  });
  const connection = { client, clock };
  return {
    call: (service, method, request, options, signal) => unary(connection, service, method, request, options, signal),
    stream: (service, method, request, options, signal) => serverStream(connection, service, method, request, options, signal),
    close: () => client.close(),
  };
}

interface Connection {
  readonly client: Client;
  readonly clock: Clock;
}

async function unary<S extends ServiceDefinition, M extends MethodName<S>>(
  connection: Connection,
  service: S,
  method: M,
  request: RequestOf<S, M>,
  options: CallOptions,
  signal: AbortSignal,
): Promise<ResponseOf<S, M>> {
  throwIfAborted(signal);
  const wire = wireOf(service, method);
  return await new Promise((resolve, reject) => {
    const call = connection.client.makeUnaryRequest<RequestOf<S, M>, ResponseOf<S, M>>(
      wire.path,
      wire.serialize,
      wire.deserialize,
      request,
      metadataOf(options),
      deadlineOf(options, connection.clock),
      (error, response) => {
        forget();
        if (error !== null) reject(signal.aborted ? reasonOf(signal) : failureOf(wire.path, error));
        else if (response === undefined) reject(new Error(`${wire.path}: neither an error nor an answer`));
        else resolve(response);
      },
    );
    const forget = onAbort(signal, () => call.cancel());
  });
}

async function* serverStream<S extends ServiceDefinition, M extends MethodName<S>>(
  connection: Connection,
  service: S,
  method: M,
  request: RequestOf<S, M>,
  options: CallOptions,
  signal: AbortSignal,
): AsyncGenerator<ResponseOf<S, M>, void, void> {
  throwIfAborted(signal);
  const wire = wireOf(service, method);
  const call = connection.client.makeServerStreamRequest<RequestOf<S, M>, ResponseOf<S, M>>(
    wire.path,
    wire.serialize,
    wire.deserialize,
    request,
    metadataOf(options),
    deadlineOf(options, connection.clock),
  );
  const messages = new Channel<ResponseOf<S, M>>();
  call.on('data', (message: ResponseOf<S, M>) => messages.push(message));
  call.on('end', () => messages.close());
  call.on('error', (error: ServiceError) => messages.close(failureOf(wire.path, error)));
  try {
    yield* messages.take(signal);
  } finally {
    call.cancel();
  }
}

interface Wire<Req, Res> {
  readonly path: string;
  serialize(request: Req): Buffer;
  deserialize(bytes: Buffer): Res;
}

function wireOf<S extends ServiceDefinition, M extends MethodName<S>>(service: S, method: M): Wire<RequestOf<S, M>, ResponseOf<S, M>> {
  const definition = service.methods[method];
  if (definition === undefined) throw new Error(`${service.fullName} has no method ${method}`);
  return {
    path: `/${service.fullName}/${definition.name}`,
    // The types of one definition belong together; the compiler cannot follow that through the index.
    serialize: (request) => Buffer.from(definition.requestType.encode(request as never).finish()),
    deserialize: (bytes) => definition.responseType.decode(bytes) as ResponseOf<S, M>,
  };
}

function metadataOf(options: CallOptions): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(options.headers ?? {})) metadata.set(name, value);
  return metadata;
}

/** grpc-js takes a point of wall time only, and turns it back at once. */
function deadlineOf(options: CallOptions, clock: Clock): { deadline?: Date } {
  return options.timeoutMs === undefined ? {} : { deadline: new Date(clock.now() + options.timeoutMs) };
}

function failureOf(path: string, error: ServiceError): GrpcFailure {
  return new GrpcFailure({ message: `${path}: ${error.details}`, status: error.code, details: error.details, cause: error });
}
