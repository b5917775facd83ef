# A login manager, and the part of systemd that has it read its configuration again, on the bus of DBUS_SYSTEM_BUS_ADDRESS.
# usage: logind.py DELAY_MS DELAY_AFTER_RELOAD_MS; each line on stdin is a deed: `announce true|false`
# On stdout, a line each: `ready`, `locks N` whenever their number changes, `reloaded`, `announced`.
import os
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

MANAGER = 'org.freedesktop.login1.Manager'


def say(line):
    print(line, flush=True)


class Logind(dbus.service.Object):
    def __init__(self, bus, delay_ms):
        super().__init__(bus, '/org/freedesktop/login1')
        self.bus = bus
        self.delay_ms = delay_ms
        self.locks = {}

    @dbus.service.method(MANAGER, in_signature='ssss', out_signature='h', sender_keyword='sender')
    def Inhibit(self, what, who, why, mode, sender=None):
        read_end, write_end = os.pipe()
        pid = self.bus.call_blocking('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'GetConnectionUnixProcessID', 's', (sender,))
        self.locks[read_end] = (what, who, why, mode, dbus.UInt32(os.getuid()), dbus.UInt32(pid))
        GLib.io_add_watch(read_end, GLib.IO_HUP, self.released)
        say(f'locks {len(self.locks)}')
        descriptor = dbus.types.UnixFd(write_end)
        os.close(write_end)
        return descriptor

    def released(self, read_end, _condition):
        del self.locks[read_end]
        os.close(read_end)
        say(f'locks {len(self.locks)}')
        return False

    @dbus.service.method(MANAGER, out_signature='a(ssssuu)')
    def ListInhibitors(self):
        return dbus.Array(self.locks.values(), signature='(ssssuu)')

    @dbus.service.method('org.freedesktop.DBus.Properties', in_signature='ss', out_signature='v')
    def Get(self, _interface, name):
        if name != 'InhibitDelayMaxUSec':
            raise dbus.exceptions.DBusException(name, name='org.freedesktop.DBus.Error.UnknownProperty')
        return dbus.UInt64(self.delay_ms * 1000)

    @dbus.service.signal(MANAGER, signature='b')
    def PrepareForShutdown(self, start):
        pass


class Systemd(dbus.service.Object):
    def __init__(self, bus, logind, delay_ms):
        super().__init__(bus, '/org/freedesktop/systemd1')
        self.logind = logind
        self.delay_ms = delay_ms

    @dbus.service.method('org.freedesktop.systemd1.Manager', in_signature='ssi')
    def KillUnit(self, unit, who, signal):
        if (unit, who, signal) == ('systemd-logind.service', 'all', 1):
            self.logind.delay_ms = self.delay_ms
            say('reloaded')


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SystemBus()
names = [dbus.service.BusName('org.freedesktop.login1', bus), dbus.service.BusName('org.freedesktop.systemd1', bus)]
logind = Logind(bus, int(sys.argv[1]))
systemd = Systemd(bus, logind, int(sys.argv[2]))
loop = GLib.MainLoop()


def deed(source, _condition):
    line = source.readline()
    if line == '':
        loop.quit()
        return False
    word, value = line.split()
    if word == 'announce':
        logind.PrepareForShutdown(value == 'true')
        say('announced')
    return True


GLib.io_add_watch(sys.stdin, GLib.IO_IN | GLib.IO_HUP, deed)
say('ready')
loop.run()
